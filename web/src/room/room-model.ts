/** A room on this device, for the views: joins it, follows its events, and leaves it. */
import { computed } from '@preact/signals';
import { PoproomError } from '../../../src/client/error.ts';
import { openLive } from '../../../src/client/live-channel.ts';
import type { RoomBase } from '../../../src/client/room.ts';
import { createRoomPin, roomPath } from '../../../src/client/room-access.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { appearance } from '../device/identity.ts';
import {
  deviceId,
  deviceIdIn,
  forgetRoom,
  isKnownAsEncrypted,
  keepKey,
  keptKey,
  rememberEncrypted,
  rememberRoom,
  savedKey,
  savedPin,
  saveKey,
  saveNewKey,
  savePin,
  saveResumeToken,
} from '../device/recent-rooms.ts';
import { checkRequestLimit, noteFailure, transport } from '../server-connection.ts';
import { openChannel } from './channel-events.ts';
import { claimDrafts, claimSealedDrafts, type Draft } from './drafts.ts';
import { openUploads } from './lazy-uploads.ts';
import {
  isAboutSecret,
  type JoinAttempt,
  type PhaseNamed,
  type RoomContent,
  type RoomEvent,
  type RoomModel,
  type RoomPhase,
  type RoomSecret,
  roomTransitions,
} from './room-phase.ts';
import { createStateMachine } from './state-machine.ts';
import { createTextModel } from './text-model.ts';

/** Rooms that this tab is leaving. Rejoining waits for them, or the same edits would be sent twice. */
const leavingRooms = new Map<string, Promise<void>>();

/** `onProblem` is called with the error of a failed request, if the user still sees the room. */
export function openRoom(code: RoomCode, onProblem: (error: PoproomError) => void): RoomModel {
  const { state: phase, send } = createStateMachine(
    roomTransitions,
    {
      name: 'idle',
      attempt: newAttempt(code),
      connection: { type: 'connecting' },
      text: undefined,
      content: undefined,
    },
    onTransition,
  );
  let keepsKey = false;

  /** Someone else may have changed the PIN: ask for it before a request is sent without it. */
  function requests(): Promise<RoomBase> {
    const { attempt, content } = phase.peek();
    if (content?.hasPin && attempt.room.pin() === undefined) send({ type: 'pin-needed' });
    return attempt.room.requests();
  }

  /** Stores what the list of recent rooms shows. */
  function remember(): void {
    const { content, text, name } = phase.peek();
    if (!content || !text || name === 'gone') return;
    const { expiresAt, hasPin, isEncrypted, files } = content;
    const firstLine = hasPin || isEncrypted ? undefined : firstLineOf(text.shared.value);
    rememberRoom({ code, expiresAt, hasPin, isEncrypted, name: content.name, firstLine, fileCount: files.length });
  }

  const uploads = openUploads(
    {
      code,
      requests,
      content: () => phase.peek().content as RoomContent,
      hide(text) {
        const { encryption } = phase.peek().attempt;
        return encryption ? encryption.hideText(text) : text;
      },
      discard(uploadId) {
        // If this fails, the server deletes the upload when it expires.
        if (phase.peek().name !== 'gone')
          void requests()
            .then((api) => api.cancelUpload(uploadId))
            .catch(() => undefined);
      },
    },
    () => onProblem(new PoproomError('OFFLINE', 'The code for uploads could not be loaded.')),
  );

  /** The live channel belongs to several phases, so it is not opened and closed with each of them. */
  function onTransition(before: RoomPhase, after: RoomPhase): void {
    const [oldChannel, channel] = [channelOf(before), channelOf(after)];
    if (oldChannel !== channel) {
      oldChannel?.abort();
      if (after.name === 'joining' || after.name === 'pin-checking') void openChannel(code, after, send, remember);
    }
    if (after.connection !== before.connection) {
      if (after.connection.type === 'connected') uploads.onConnected();
      if (after.connection.type === 'waiting') uploads.onDisconnected();
    }
    if (after.content && after.content.files !== before.content?.files)
      uploads.onFilesListed(after.content.files.map(({ fileUrl }) => fileUrl));
    if (after.name !== before.name) onEnter(after, before);
    if (after.name === 'joined' && isListedOtherwise(after.content, before.content)) {
      saveSecrets(after);
      remember();
    }
  }

  /** The PIN or the key that has opened the room. */
  function saveSecrets({ attempt: { room, encryption, deviceId }, content }: PhaseNamed<'joined'>): void {
    savePin(code, room.pin());
    if (!encryption) return;
    const { key, salt } = encryption;
    rememberEncrypted(code, { expiresAt: content.expiresAt, salt, deviceId });
    saveKey(code, key);
    if (keepsKey || keptKey(code)) keepKey(code, key);
    keepsKey = false;
  }

  function onEnter(entered: RoomPhase, before: RoomPhase): void {
    const { attempt, text } = entered;
    switch (entered.name) {
      case 'loading':
        void loadText(code, () => phase.peek().attempt).then(send);
        break;
      case 'pin-required':
        uploads.onDisconnected();
        savePin(code, undefined);
        if (entered.prompt.isWrong) saveNewKey(code, undefined);
        saveResumeToken(code, undefined);
        break;
      case 'joined':
        // Only the first time.
        if (!before.content) entered.text.sendOtherDrafts(attempt);
        break;
      case 'gone':
        uploads.cancelAll();
        // Nothing of an encrypted room is erased because the server says that it has ended.
        if ((attempt.encryption || isKnownAsEncrypted(code)) && entered.reason !== 'deleted-here') {
          void text?.finish();
          break;
        }
        text?.discard();
        forgetRoom(code);
        break;
      case 'left':
        uploads.cancelAll();
        remember();
        leavingRooms.set(code, finish(entered));
        break;
    }
  }

  async function join(secret: RoomSecret = {}): Promise<void> {
    const key = secret.key ?? savedKey(code) ?? phase.peek().attempt.room.key;
    keepsKey = secret.keepsKey ?? false;
    try {
      const open = isKnownAsEncrypted(code) ? lockedAttempt : newAttempt;
      const attempt =
        key === undefined ? open(code, secret.pin) : (await loadEncryption()).createEncryptedAttempt(code, key);
      send({ type: 'join', attempt });
    } catch (cause) {
      send({ type: 'failed', error: new PoproomError('OFFLINE', String(cause)), at: Date.now() });
    }
  }

  /** Returns whether the request succeeded. */
  async function run(request: (api: RoomBase) => Promise<unknown>): Promise<boolean> {
    try {
      await request(await requests());
      void checkRequestLimit();
      return true;
    } catch (cause) {
      const error = noteFailure(cause);
      if (phase.peek().name === 'joined') onProblem(error);
      return false;
    }
  }

  return {
    code,
    phase,
    content: computed(() => phase.value.content as RoomContent),
    uploads,
    get deviceId() {
      return phase.value.attempt.deviceId;
    },
    requests,
    join: (secret) => void join(secret),
    removeFile: ({ fileId }) => run((api) => api.removeFile(fileId)),
    restoreFile: ({ fileId }) => run((api) => api.restoreFile(fileId)),
    async update(changes) {
      try {
        const api = await requests();
        const info = await api.update(changes);
        savePin(code, api.pin());
        send({ ...info, type: 'changed' });
        void checkRequestLimit();
      } catch (cause) {
        const error = noteFailure(cause);
        if (isAboutSecret(error.code)) send({ type: 'failed', error, at: Date.now() });
        return error;
      }
    },
    async delete() {
      send({ type: 'deleting', isDeleting: true });
      if (await run((api) => api.delete())) send({ type: 'ended', reason: 'deleted' });
      else send({ type: 'deleting', isDeleting: false });
    },
    leave: () => send({ type: 'leave' }),
  };
}

function newAttempt(code: RoomCode, pin = savedPin(code)): JoinAttempt {
  const access = { code, pin: createRoomPin(pin), ...appearance(deviceId) };
  return {
    room: {
      code,
      key: undefined,
      pin: access.pin.current,
      live: (options) => openLive(transport, roomPath(code), access, options),
      requests: async () => (await loadRequests().catch(failToLoad)).openRequests(access),
    },
    aborter: new AbortController(),
    deviceId,
  };
}

export const loadRequests = () => import('./room-requests.ts');

/** Offline, or after an update of the server, which no longer has the files of this page. */
function failToLoad(cause: unknown): never {
  throw new PoproomError('OFFLINE', String(cause), { details: { reason: 'code' } });
}

/** The code of the encryption is loaded for the first encrypted room. */
const loadEncryption = () => import('./encryption.ts');

/** Without the key. The server may say what it wants: the room is not opened as a plain one. */
const lockedAttempt = (code: RoomCode): JoinAttempt => ({
  ...newAttempt(code),
  deviceId: deviceIdIn(code),
  refuse: async () => (await loadEncryption()).findRefusal(code),
});

async function finish({ text, attempt }: RoomPhase): Promise<void> {
  await text?.finish();
  attempt.aborter.abort();
}

function isListedOtherwise(one: RoomContent, other: RoomContent | undefined): boolean {
  return (['files', 'expiresAt', 'hasPin', 'name', 'pinChanges'] as const).some((key) => one[key] !== other?.[key]);
}

const firstLineOf = (text: string): string | undefined => /\S.{0,59}/u.exec(text)?.[0].trim();

/** The phases with a live channel are those that react to its end. */
function channelOf({ name, attempt }: RoomPhase): AbortController | undefined {
  return 'ended' in roomTransitions[name] ? attempt.aborter : undefined;
}

/** With the drafts of this tab and of closed tabs. */
async function loadText(code: RoomCode, attempt: () => JoinAttempt): Promise<RoomEvent> {
  await leavingRooms.get(code);
  const [own, ...others] = await claimDrafts(code, () => attempt().encryption);
  const text = createTextModel(own as Draft, attempt().deviceId);
  return { type: 'loaded', text: { ...text, sendOtherDrafts: (joined) => sendDrafts(others, joined) } };
}

/** Sends the edits of closed tabs. */
function sendDrafts(others: readonly Draft[], attempt: JoinAttempt): void {
  const sendAll = (drafts: readonly Draft[]) => drafts.forEach((draft) => void sendOther(draft, attempt));
  sendAll(others);
  if (attempt.encryption) void claimSealedDrafts(attempt.room.code, attempt.encryption).then(sendAll);
}

/** Few rooms have such drafts. If the code cannot be loaded, the next page load retries. */
const sendOther = (draft: Draft, attempt: JoinAttempt): Promise<void> =>
  import('./closed-tabs.ts').then(
    ({ sendDraft }) => sendDraft(draft, attempt),
    () => undefined,
  );
