/** A room on this device: joins it, follows its events, and leaves it. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { HistoryEntry, HistoryText, LiveEvent, LiveRoom, RoomCode, Snapshot } from '../../../src/client/index.ts';
import { PoproomError, type RoomBase } from '../../../src/client/light.ts';
import { deviceName } from '../device/identity.ts';
import {
  forgetRoom,
  rememberRoom,
  savedPin,
  savedResumeToken,
  savePin,
  saveResumeToken,
} from '../device/recent-rooms.ts';
import { limits } from '../limits.ts';
import { connectToServer } from '../server.ts';
import { claimDrafts, type Draft } from './drafts.ts';
import { checkRequestLimit, noteRateLimit } from './request-limit.ts';
import type { TextModel } from './text-model.ts';
import { createUploads, type Uploads } from './uploads.ts';

export type SharedFile = Snapshot['files'][number];
export type Device = Snapshot['devices'][number];

/** How far joining the room has got. */
export type RoomPhase =
  | { name: 'joining' }
  | { name: 'joined'; text: TextModel }
  | { name: 'pin'; prompt: PinPrompt }
  | { name: 'failed'; error: PoproomError }
  | { name: 'ended'; reason: 'deleted' | 'expired' };

/** What the server said about the PINs entered so far. */
export interface PinPrompt {
  wrong: boolean;
  triesLeft: number | undefined;
  lockedUntil: number | undefined;
}

export type ConnectionState =
  | { status: 'connecting' | 'connected' }
  | { status: 'waiting'; until: Date; error: PoproomError };

export interface RoomState {
  readonly code: RoomCode;
  readonly phase: ReadonlySignal<RoomPhase>;
  readonly connection: ReadonlySignal<ConnectionState>;
  readonly expiresAt: ReadonlySignal<number>;
  /** When this device first joined. */
  readonly since: ReadonlySignal<number>;
  readonly hasPin: ReadonlySignal<boolean>;
  readonly devices: ReadonlySignal<readonly Device[]>;
  readonly files: ReadonlySignal<readonly SharedFile[]>;
  readonly uploads: Uploads;
  /** Wrong PINs that others entered since this page was opened and that the user has not dismissed. */
  readonly pinAttempts: Signal<number>;
  /** The error of the last failed request, until it is shown. */
  readonly problem: Signal<PoproomError | undefined>;
  join(pin?: string): void;
  removeFile(file: SharedFile): Promise<void>;
  /** Earlier versions of the text, newest first. */
  history(): Promise<HistoryEntry[]>;
  historyText(version: number): Promise<HistoryText>;
  clearHistory(): Promise<void>;
  delete(): Promise<void>;
  leave(): void;
}

/** Rooms that this tab is leaving. Rejoining waits for them, or the same edits would be sent twice. */
const leavingRooms = new Map<string, Promise<void>>();

export function openRoom(code: RoomCode): RoomState {
  const phase = signal<RoomPhase>({ name: 'joining' });
  const connection = signal<ConnectionState>({ status: 'connecting' });
  const info = signal({ expiresAt: 0, since: 0, hasPin: false });
  const devices = signal<readonly Device[]>([]);
  const files = signal<readonly SharedFile[]>([]);
  const pinAttempts = signal(0);
  const problem = signal<PoproomError | undefined>(undefined);
  let attemptsSeen: number | undefined;
  let room: RoomBase = connectToServer().room(code, { pin: savedPin(code) });
  let leaving = new AbortController();
  let text: TextModel | undefined;
  let otherDrafts: Draft[] = [];
  let opening: Promise<TextModel> | undefined;
  const uploads = createUploads(() => room, limits.fileMax);

  /** Loads the text engine, which is not part of the first view. A failed load is retried on the next join. */
  async function openText(): Promise<TextModel> {
    const { createTextModel } = await import('./text-model.ts');
    await leavingRooms.get(code);
    const { own, others } = await claimDrafts(code);
    otherDrafts = others;
    text = createTextModel(own);
    return text;
  }

  function loadText(): Promise<TextModel> {
    opening ??= openText().catch((cause) => {
      opening = undefined;
      throw new PoproomError('OFFLINE', 'Could not load part of the page.', { cause });
    });
    return opening;
  }

  function join(pin = savedPin(code)): void {
    leaving.abort();
    leaving = new AbortController();
    // Keep the PIN pad until the server has accepted the PIN.
    if (phase.value.name !== 'pin') phase.value = { name: 'joining' };
    room = connectToServer().room(code, { pin });
    void follow(leaving.signal, pin);
  }

  async function follow(signal: AbortSignal, pin: string | undefined): Promise<void> {
    let deviceListeners: { stop: () => void } | undefined;
    let resumeToken = savedResumeToken(code);
    try {
      const text = await loadText();
      if (signal.aborted) return;
      const live = room.live({
        signal,
        text: text.shared,
        resumeToken,
        onResumeToken(token) {
          resumeToken = token;
          if (phase.value.name === 'joined') saveResumeToken(code, token);
        },
      });
      deviceListeners = listenToDevice(live, text, signal);
      const events = live[Symbol.asyncIterator]();
      let next = await events.next();
      for (; !next.done; next = await events.next()) {
        const event = next.value;
        if (signal.aborted) continue;
        batch(() => applyEvent(event));
        if (phase.value.name !== 'joined' && (event.type === 'snapshot' || event.type === 'devices')) {
          // Save only now that the room is in the recent rooms: data of rooms that are not in that list is deleted.
          savePin(code, pin);
          saveResumeToken(code, resumeToken);
          phase.value = { name: 'joined', text };
          for (const draft of otherDrafts.splice(0)) void sendDraft(room, draft, signal);
        }
      }
      if (next.value !== 'left') end(next.value);
    } catch (error) {
      if (!signal.aborted) onJoinFailed(asPoproomError(error));
    } finally {
      deviceListeners?.stop();
    }
  }

  function applyEvent(event: LiveEvent): void {
    switch (event.type) {
      case 'connecting':
        connection.value = { status: 'connecting' };
        break;
      case 'waiting':
        connection.value = { status: 'waiting', until: event.until, error: event.error };
        break;
      case 'connected':
        connection.value = { status: 'connected' };
        void checkRequestLimit();
        break;
      case 'snapshot':
        applySnapshot(event);
        break;
      case 'file-added':
        setFiles([...files.value, event.file]);
        break;
      case 'file-removed':
        setFiles(files.value.filter(({ fileId }) => fileId !== event.fileId));
        break;
      case 'devices':
        devices.value = event.devices;
        break;
      case 'pin-attempts':
        setPinAttempts(event.pinAttempts);
        break;
    }
  }

  function applySnapshot({ room: { expiresAt, hasPin }, files, devices: present, pinAttempts }: Snapshot): void {
    info.value = rememberRoom({ code, expiresAt: Date.parse(expiresAt), hasPin });
    setFiles(files);
    devices.value = present;
    setPinAttempts(pinAttempts);
  }

  function setFiles(current: readonly SharedFile[]): void {
    files.value = current;
    uploads.onFilesListed(current.map(({ fileUrl }) => fileUrl));
  }

  /** Attempts from before this page joined are not reported. */
  function setPinAttempts(total: number): void {
    if (attemptsSeen !== undefined && total > attemptsSeen) pinAttempts.value += total - attemptsSeen;
    attemptsSeen = total;
  }

  function onJoinFailed(error: PoproomError): void {
    if (error.code.startsWith('PIN_')) askForPin(error);
    else if (error.code === 'ROOM_EXPIRED') end('expired');
    // A room that this page has joined before was deleted.
    else if (error.code === 'ROOM_NOT_FOUND' && info.value.expiresAt > 0) end('deleted');
    else {
      if (error.code === 'ROOM_NOT_FOUND') forgetRoom(code);
      phase.value = { name: 'failed', error };
    }
  }

  function askForPin({ code: errorCode, details, retryAfter }: PoproomError): void {
    savePin(code, undefined);
    saveResumeToken(code, undefined);
    const prompt = {
      wrong: errorCode === 'PIN_INCORRECT',
      triesLeft: details.triesLeft as number | undefined,
      lockedUntil: retryAfter === undefined ? undefined : Date.now() + retryAfter * 1000,
    };
    phase.value = { name: 'pin', prompt };
  }

  function end(reason: 'deleted' | 'expired'): void {
    leaving.abort();
    uploads.cancelAll();
    text?.discard();
    forgetRoom(code);
    phase.value = { name: 'ended', reason };
  }

  /** Runs a request and reports its failure in `problem`. */
  async function attempt(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (error) {
      problem.value = asPoproomError(error);
      noteRateLimit(problem.value);
      return false;
    }
  }

  return {
    code,
    phase,
    connection,
    expiresAt: computed(() => info.value.expiresAt),
    since: computed(() => info.value.since),
    hasPin: computed(() => info.value.hasPin),
    devices,
    files,
    uploads,
    pinAttempts,
    problem,
    join,

    async removeFile({ fileId }) {
      await attempt(() => room.removeFile(fileId));
    },

    history: () => room.history(),
    historyText: (version) => room.historyText(version),
    async clearHistory() {
      await room.clearHistory();
    },

    async delete() {
      if (await attempt(() => room.delete())) end('deleted');
    },

    leave() {
      uploads.cancelAll();
      const left = (text?.finish() ?? Promise.resolve()).then(() => leaving.abort());
      leavingRooms.set(code, left);
    },
  };
}

/** Sends the draft of a closed tab as a separate text: its edits are based on another version than this tab's. */
async function sendDraft(room: RoomBase, draft: Draft, leaving: AbortSignal): Promise<void> {
  const { createSharedText } = await import('./text-model.ts');
  const done = new AbortController();
  try {
    const text = createSharedText({ saved: draft.saved });
    const signal = AbortSignal.any([leaving, done.signal]);
    void drain(room.live({ text, signal, resumeToken: savedResumeToken(room.code) }));
    await text.synchronized();
    draft.save(undefined);
  } catch (error) {
    // The draft stays stored, and the next page load retries.
    console.error(error);
  } finally {
    done.abort();
  }
}

/** Consumes the events; the text reads the channel itself. */
async function drain(live: LiveRoom): Promise<void> {
  try {
    for await (const _ of live);
  } catch {}
}

/** Reacts to visibility, network and name changes of the device. */
function listenToDevice(live: LiveRoom, text: TextModel, signal: AbortSignal): { stop: () => void } {
  const stopRenaming = deviceName.subscribe(skipFirst((name) => live.rename(name)));
  const onVisibilityChange = () => {
    if (document.visibilityState === 'visible') live.wake();
    else text.flush();
  };
  addEventListener('pagehide', text.flush, { signal });
  addEventListener('online', live.wake, { signal });
  addEventListener('offline', live.interrupt, { signal });
  document.addEventListener('visibilitychange', onVisibilityChange, { signal });
  return { stop: stopRenaming };
}

function skipFirst<T>(listen: (value: T) => void): (value: T) => void {
  let first = true;
  return (value) => {
    if (!first) listen(value);
    first = false;
  };
}

/** Logs unexpected errors, so that bugs are not hidden. */
function asPoproomError(error: unknown): PoproomError {
  if (error instanceof PoproomError) return error;
  console.error(error);
  return new PoproomError('INTERNAL', 'Something went wrong on this page.', { cause: error });
}
