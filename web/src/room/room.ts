/** A room as this device sees it: entered, followed, and left. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { HistoryEntry, HistoryText, LiveEvent, LiveRoom, RoomCode, Snapshot } from '../../../src/client/index.ts';
import { PoproomError, type RoomBase } from '../../../src/client/light.ts';
import { deviceName } from '../device/identity.ts';
import { forget, keepPin, keepResumeToken, pinOf, remember, resumeTokenOf } from '../device/recent-rooms.ts';
import { limits } from '../limits.ts';
import { connectToServer } from '../server.ts';
import { type Draft, takeDrafts } from './drafts.ts';
import { checkRequestLimit, noteRefusal } from './request-limit.ts';
import type { TextModel } from './text-model.ts';
import { createUploads, type Uploads } from './uploads.ts';

export type SharedFile = Snapshot['files'][number];
export type Device = Snapshot['devices'][number];

/** How far in we are. */
export type Standing =
  | { at: 'entering' }
  | { at: 'inside'; text: TextModel }
  | { at: 'pin'; asked: PinQuestion }
  | { at: 'outside'; error: PoproomError }
  | { at: 'over'; why: 'deleted' | 'expired' };

/** What is known of the tries so far. */
export interface PinQuestion {
  wrong: boolean;
  triesLeft: number | undefined;
  lockedUntil: number | undefined;
}

export type Link = { is: 'connecting' | 'connected' } | { is: 'waiting'; until: Date; error: PoproomError };

export interface RoomState {
  readonly code: RoomCode;
  readonly standing: ReadonlySignal<Standing>;
  readonly link: ReadonlySignal<Link>;
  readonly expiresAt: ReadonlySignal<number>;
  /** When this device was first here. */
  readonly since: ReadonlySignal<number>;
  readonly hasPin: ReadonlySignal<boolean>;
  readonly devices: ReadonlySignal<readonly Device[]>;
  readonly files: ReadonlySignal<readonly SharedFile[]>;
  readonly uploads: Uploads;
  /** Wrong PINs tried while this page looked on, and not yet waved away. */
  readonly pinAttempts: Signal<number>;
  /** What a request was refused with, to be told. */
  readonly problem: Signal<PoproomError | undefined>;
  enter(pin?: string): void;
  removeFile(file: SharedFile): Promise<void>;
  /** Earlier texts of the room, newest first. */
  history(): Promise<HistoryEntry[]>;
  historyText(version: number): Promise<HistoryText>;
  clearHistory(): Promise<void>;
  delete(): Promise<void>;
  leave(): void;
}

/** Rooms that this tab is leaving: who comes back at once must not send the same edits twice. */
const finishing = new Map<string, Promise<void>>();

export function openRoom(code: RoomCode): RoomState {
  const standing = signal<Standing>({ at: 'entering' });
  const link = signal<Link>({ is: 'connecting' });
  const info = signal({ expiresAt: 0, since: 0, hasPin: false });
  const devices = signal<readonly Device[]>([]);
  const files = signal<readonly SharedFile[]>([]);
  const pinAttempts = signal(0);
  const problem = signal<PoproomError | undefined>(undefined);
  let attemptsSeen: number | undefined;
  let room: RoomBase = connectToServer().room(code, { pin: pinOf(code) });
  let leaving = new AbortController();
  let text: TextModel | undefined;
  let undelivered: Draft[] = [];
  let opening: Promise<TextModel> | undefined;
  const uploads = createUploads(() => room, limits.fileMax);

  /** The engine is not part of the first view. Where it cannot be loaded, it is tried again with the next entering. */
  async function openText(): Promise<TextModel> {
    const { createTextModel } = await import('./text-model.ts');
    await finishing.get(code);
    const { own, others } = await takeDrafts(code);
    undelivered = others;
    text = createTextModel(own);
    return text;
  }

  function textOfRoom(): Promise<TextModel> {
    opening ??= openText().catch((cause) => {
      opening = undefined;
      throw new PoproomError('OFFLINE', 'A part of the page could not be loaded.', { cause });
    });
    return opening;
  }

  function enter(pin = pinOf(code)): void {
    leaving.abort();
    leaving = new AbortController();
    // The PIN pad stays until the PIN is known to be right.
    if (standing.value.at !== 'pin') standing.value = { at: 'entering' };
    room = connectToServer().room(code, { pin });
    void follow(leaving.signal, pin);
  }

  async function follow(signal: AbortSignal, pin: string | undefined): Promise<void> {
    let listening: { stop: () => void } | undefined;
    let resumeToken = resumeTokenOf(code);
    try {
      const text = await textOfRoom();
      if (signal.aborted) return;
      const live = room.live({
        signal,
        text: text.shared,
        resumeToken,
        onResumeToken(token) {
          resumeToken = token;
          if (standing.value.at === 'inside') keepResumeToken(code, token);
        },
      });
      listening = listenToDevice(live, text, signal);
      const events = live[Symbol.asyncIterator]();
      let next = await events.next();
      for (; !next.done; next = await events.next()) {
        const event = next.value;
        if (signal.aborted) continue;
        batch(() => take(event));
        if (standing.value.at !== 'inside' && (event.type === 'snapshot' || event.type === 'devices')) {
          // Now that the room is remembered: of others nothing is kept.
          keepPin(code, pin);
          keepResumeToken(code, resumeToken);
          standing.value = { at: 'inside', text };
          for (const draft of undelivered.splice(0)) void deliver(room, draft, signal);
        }
      }
      if (next.value !== 'left') over(next.value);
    } catch (error) {
      if (!signal.aborted) turnedAway(asPoproomError(error));
    } finally {
      listening?.stop();
    }
  }

  function take(event: LiveEvent): void {
    switch (event.type) {
      case 'connecting':
        link.value = { is: 'connecting' };
        break;
      case 'waiting':
        link.value = { is: 'waiting', until: event.until, error: event.error };
        break;
      case 'connected':
        link.value = { is: 'connected' };
        void checkRequestLimit();
        break;
      case 'snapshot':
        takeSnapshot(event);
        break;
      case 'file-added':
        takeFiles([...files.value, event.file]);
        break;
      case 'file-removed':
        takeFiles(files.value.filter(({ fileId }) => fileId !== event.fileId));
        break;
      case 'devices':
        devices.value = event.devices;
        break;
      case 'pin-attempts':
        takeAttempts(event.pinAttempts);
        break;
    }
  }

  function takeSnapshot({ room: { expiresAt, hasPin }, files, devices: present, pinAttempts }: Snapshot): void {
    info.value = remember({ code, expiresAt: Date.parse(expiresAt), hasPin });
    takeFiles(files);
    devices.value = present;
    takeAttempts(pinAttempts);
  }

  function takeFiles(now: readonly SharedFile[]): void {
    files.value = now;
    uploads.arrived(now.map(({ fileUrl }) => fileUrl));
  }

  /** Those before our time are not news. */
  function takeAttempts(total: number): void {
    if (attemptsSeen !== undefined && total > attemptsSeen) pinAttempts.value += total - attemptsSeen;
    attemptsSeen = total;
  }

  function turnedAway(error: PoproomError): void {
    if (error.code.startsWith('PIN_')) askForPin(error);
    else if (error.code === 'ROOM_EXPIRED') over('expired');
    // One that was there and is not any more was deleted.
    else if (error.code === 'ROOM_NOT_FOUND' && info.value.expiresAt > 0) over('deleted');
    else {
      if (error.code === 'ROOM_NOT_FOUND') forget(code);
      standing.value = { at: 'outside', error };
    }
  }

  function askForPin({ code: why, details, retryAfter }: PoproomError): void {
    keepPin(code, undefined);
    keepResumeToken(code, undefined);
    const asked = {
      wrong: why === 'PIN_INCORRECT',
      triesLeft: details.triesLeft as number | undefined,
      lockedUntil: retryAfter === undefined ? undefined : Date.now() + retryAfter * 1000,
    };
    standing.value = { at: 'pin', asked };
  }

  function over(why: 'deleted' | 'expired'): void {
    leaving.abort();
    uploads.cancelAll();
    text?.discard();
    forget(code);
    standing.value = { at: 'over', why };
  }

  /** Requests whose failure is told in one place. */
  async function attempt(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (error) {
      problem.value = asPoproomError(error);
      noteRefusal(problem.value);
      return false;
    }
  }

  return {
    code,
    standing,
    link,
    expiresAt: computed(() => info.value.expiresAt),
    since: computed(() => info.value.since),
    hasPin: computed(() => info.value.hasPin),
    devices,
    files,
    uploads,
    pinAttempts,
    problem,
    enter,

    async removeFile({ fileId }) {
      await attempt(() => room.removeFile(fileId));
    },

    history: () => room.history(),
    historyText: (version) => room.historyText(version),
    async clearHistory() {
      await room.clearHistory();
    },

    async delete() {
      if (await attempt(() => room.delete())) over('deleted');
    },

    leave() {
      uploads.cancelAll();
      const left = (text?.finish() ?? Promise.resolve()).then(() => leaving.abort());
      finishing.set(code, left);
    },
  };
}

/** Sends what a closed tab left, as a text of its own: its edits were made for another version than this tab's. */
async function deliver(room: RoomBase, draft: Draft, leaving: AbortSignal): Promise<void> {
  const { createSharedText } = await import('./text-model.ts');
  const delivered = new AbortController();
  try {
    const text = createSharedText({ saved: draft.saved });
    const signal = AbortSignal.any([leaving, delivered.signal]);
    void passOver(room.live({ text, signal, resumeToken: resumeTokenOf(room.code) }));
    await text.synchronized();
    draft.keep(undefined);
  } catch (error) {
    // It stays a draft, and the next page tries again.
    console.error(error);
  } finally {
    delivered.abort();
  }
}

/** The text takes what it needs from the channel. */
async function passOver(live: LiveRoom): Promise<void> {
  try {
    for await (const _ of live);
  } catch {}
}

/** A device sleeps, wakes, loses its network and finds it again; and its owner renames it. */
function listenToDevice(live: LiveRoom, text: TextModel, signal: AbortSignal): { stop: () => void } {
  const stopNames = deviceName.subscribe(skipFirst((name) => live.rename(name)));
  const lookUpOrAway = () => {
    if (document.visibilityState === 'visible') live.wake();
    else text.flush();
  };
  addEventListener('pagehide', text.flush, { signal });
  addEventListener('online', live.wake, { signal });
  addEventListener('offline', live.interrupt, { signal });
  document.addEventListener('visibilitychange', lookUpOrAway, { signal });
  return { stop: stopNames };
}

function skipFirst<T>(listen: (value: T) => void): (value: T) => void {
  let first = true;
  return (value) => {
    if (!first) listen(value);
    first = false;
  };
}

/** A mistake of our own must not be one in silence. */
function asPoproomError(error: unknown): PoproomError {
  if (error instanceof PoproomError) return error;
  console.error(error);
  return new PoproomError('INTERNAL', 'Something went wrong on this page.', { cause: error });
}
