/**
 * Encrypted rooms: joins and starts them, seals the drafts of their text, and lets a worker derive keys and encrypt files,
 * so that the page stays responsive. Loaded for the first such room.
 */
import { encodeBase64url } from '../../../src/client/crypto/base64url.ts';
import { type ChunkCipher, portableCipher } from '../../../src/client/crypto/chunk-cipher.ts';
import { fileLayout } from '../../../src/client/crypto/file-cipher.ts';
import { deriveKeys, type EncryptedRoom, parseSalt, type RoomKeys } from '../../../src/client/crypto/keys.ts';
import { hideText, openDraft, sealDraft } from '../../../src/client/crypto/metadata.ts';
import { parseRoomKey, type RoomKey } from '../../../src/client/crypto/room-key.ts';
import { type KeyOptions, loadEncryption, openEncryptedRoom } from '../../../src/client/encrypted-room.ts';
import { PoproomError } from '../../../src/client/error.ts';
import { createRoomPin, requestRoom } from '../../../src/client/room-access.ts';
import { attempt } from '../../../src/client/shapes.ts';
import { createSharedText } from '../../../src/client/text/create-shared-text.ts';
import type { SavedText } from '../../../src/client/text/shared-text.ts';
import type { LinkId, RoomCode } from '../../../src/protocol/room-code.ts';
import type { SeenVersion } from '../../../src/protocol/sealed.ts';
import type { CreateRoomRequest } from '../../../src/protocol/types.ts';
import { appearance } from '../device/identity.ts';
import { deviceIdIn, draftKeys, knownRoom, offerKey } from '../device/recent-rooms.ts';
import { isRecord, isString, localStore, sessionStore } from '../device/storage.ts';
import { trustedScriptUrl } from '../page-settings.ts';
import { askRoom, transport } from '../server-connection.ts';
import type { Task, TaskResult, WorkerMessage } from './crypto-worker.ts';
import workerUrl from './crypto-worker.ts?worker&url';
import { isSavedText, sealedDraftsOf } from './drafts.ts';
import type { FileSizes, JoinAttempt, OpenedLink } from './room-phase.ts';
import { openRequests } from './room-requests.ts';

/** Deriving keys takes long, so it is done once for a room that is joined again, or that was started here. */
const derived = new Map<string, RoomKeys>();

/** Starts to derive the keys, while the page loads the text engine and the drafts. */
export function createEncryptedAttempt(code: RoomCode, typedKey: string): JoinAttempt {
  const key = canonicalKey(typedKey);
  const aborter = new AbortController();
  const { salt } = knownRoom(code) ?? {};
  let unlocked: EncryptedRoom | undefined;
  const { room, unlock } = open(code, {
    key,
    keys: derived.get(code + key),
    salt,
    ask: async () => {
      const refusal = await askRoom(code);
      if (refusal) throw refusal;
    },
    derive,
    ...seenIn(localStore, seenKey(code)),
    onUnlocked(room) {
      unlocked = room;
      derived.set(code + key, room.keys);
    },
  });
  // The live channel reports a failure, and tries again.
  unlock().catch(() => undefined);
  void prepareKeys(code, key);
  offerKey(code, key, aborter.signal);
  return {
    room: Object.assign(room, { requests: async () => room }),
    aborter,
    deviceId: deviceIdIn(code),
    encryption: {
      key,
      get salt() {
        return room.salt ?? salt;
      },
      fileSizes,
      hideText: (text) => unlocked && hideText(unlocked, text),
      // The room is unlocked before its text is shown.
      sealDraft: (saved) => unlocked && sealDraft(unlocked, JSON.stringify(saved)),
      openDraft: (sealed) => unlocked && openSavedText(unlocked, sealed),
    },
  };
}

/** The fragment decides the role, whatever the server says. Sends nothing. Throws `KEY_WRONG` if the fragment is malformed. */
export async function openSealedLink(id: LinkId, fragment: string): Promise<Omit<OpenedLink, 'info'>> {
  omitWorker();
  const { room, unlock } = open(id, { key: fragment, ...seenIn(sessionStore, linkSeenKey(id)) });
  const { dropKey } = await unlock();
  return { role: dropKey ? 'drop' : 'read', room, fileSizes };
}

/** Keys that are being derived, by key and salt. */
const deriving = new Map<string, Promise<RoomKeys>>();

function derive(key: RoomKey, salt: Uint8Array): Promise<RoomKeys> {
  const id = `${key} ${encodeBase64url(salt)}`;
  const keys = deriving.get(id) ?? deriveInWorker(key, salt);
  deriving.set(id, keys);
  return keys;
}

/** Starts to derive the keys when the key is typed, or the salt is known from an earlier visit. */
export async function prepareKeys(code: RoomCode, typedKey: string): Promise<void> {
  try {
    const key = parseRoomKey(typedKey);
    const salt = knownRoom(code)?.salt ?? (await askRoom(code))?.details.salt;
    if (isString(salt) && !derived.has(code + key)) await derive(key, parseSalt(salt));
  } catch {}
}

/** Why a room that is known as encrypted cannot be joined without its key. The request has nothing but the code. */
export async function findRefusal(code: RoomCode): Promise<PoproomError> {
  const answer = await askRoom(code);
  if (!answer || answer.code === 'PIN_REQUIRED')
    return new PoproomError('NOT_ENCRYPTED', 'The server says that this room is not encrypted. Nothing was sent.');
  const hasEnded = /^ROOM_(NOT_FOUND|EXPIRED)$/.test(answer.code);
  // With the key, the user can read the edits that were not sent.
  if (answer.code.startsWith('KEY_') || (hasEnded && draftKeys(code).length === 0)) return answer;
  return new PoproomError('KEY_REQUIRED', 'This room is encrypted.');
}

/** The text with the edits that were not sent, for a room that the server does not have. */
export async function openKeptText(code: RoomCode, key: string): Promise<string | undefined> {
  const { salt } = knownRoom(code) ?? {};
  const sealed = sealedDraftsOf(code);
  if (!salt || sealed.length === 0) return undefined;
  const keys = derived.get(code + key) ?? (await derive(key as RoomKey, parseSalt(salt)));
  derived.set(code + key, keys);
  const texts = sealed.map((draft) => openSavedText({ code, keys }, draft));
  return texts.flatMap((saved) => (saved ? [createSharedText({ saved }).value] : [])).join('\n\n') || undefined;
}

const fileSizes: FileSizes = {
  storedSize: (size) => fileLayout(size).ciphertextSize,
  largestFile(bytes) {
    let [fits, tooLarge] = [-1, bytes + 1];
    while (tooLarge - fits > 1) {
      const size = Math.floor((fits + tooLarge) / 2);
      if (fileLayout(size).ciphertextSize <= bytes) fits = size;
      else tooLarge = size;
    }
    return Math.max(0, fits);
  },
};

function openSavedText(room: EncryptedRoom, sealed: string): SavedText | undefined {
  const saved = attempt((): unknown => JSON.parse(openDraft(room, sealed)));
  return isSavedText(saved) ? saved : undefined;
}

/** Starts a room with a new key. The salt is in base64url. */
export async function startEncryptedRoom(request: CreateRoomRequest) {
  const { createEncrypted } = await loadEncryption();
  const { room, ...created } = await createEncrypted(
    (json) => requestRoom(transport, json),
    (code, source) => {
      if (source.keys) derived.set(code + canonicalKey(source.key), source.keys);
      return open(code, source).room;
    },
    request,
    deriveInWorker,
  );
  return { ...created, key: canonicalKey(room.key ?? ''), salt: room.salt ?? '' };
}

function open(code: string, source: KeyOptions) {
  const access = { code, pin: createRoomPin(undefined), ...appearance(deviceIdIn(code)) };
  const options = { cipher: createWorkerCipher, ...source };
  return openEncryptedRoom(transport, access, options, (_, access) => openRequests(access));
}

/** A key that cannot be one stays as it is, and fails when the room is unlocked. */
const canonicalKey = (typed: string): string => attempt(() => parseRoomKey(typed)) ?? typed;

/** The newest version that this device has seen, to notice when the server sends an older one. */
function seenIn(store: typeof localStore, key: string) {
  const saved = () => store.get(key, isSeenVersion);
  const onSeen = (seen: SeenVersion) => {
    // Another tab may have seen a newer one.
    if (seen.version > (saved()?.version ?? -1)) store.set(key, seen);
  };
  return { seen: saved(), onSeen };
}

const seenKey = (code: string): string => `seen:${code}`;
/** In this tab only: a link is not in the list of recent rooms. */
const linkSeenKey = (id: LinkId): string => `link-seen:${id}`;

/** The user accepts that the server has gone back to an older text. */
export const forgetSeen = (code: string): void => localStore.set(seenKey(code), undefined);
export const forgetLinkSeen = (id: LinkId): void => sessionStore.set(linkSeenKey(id), undefined);

const isSeenVersion = (value: unknown): value is SeenVersion =>
  isRecord(value) &&
  Number.isSafeInteger(value.version) &&
  isString(value.hash) &&
  (value.earlier === undefined || (Array.isArray(value.earlier) && value.earlier.every(isString)));

type Bytes = Uint8Array<ArrayBuffer>;
type Run = (task: Task) => Promise<TaskResult>;

let started: Promise<Run> | undefined;
/** Loads while the page asks the server for the salt. Starting it takes long, so that request is sent first. */
const starting = setTimeout(start);

/** A link with a role contains its keys. Its files start the worker. */
const omitWorker = (): void => clearTimeout(starting);

const deriveInWorker = async (key: RoomKey, salt: Uint8Array): Promise<RoomKeys> =>
  (await run({ action: 'derive', key, salt }).catch(() => deriveKeys(key, salt))) as RoomKeys;

const createWorkerCipher = (key: Uint8Array): ChunkCipher => ({
  seal: async (place, bytes) => (await run({ action: 'seal', key, place, bytes })) as Bytes,
  open: async (place, bytes) => (await run({ action: 'open', key, place, bytes })) as Bytes | undefined,
});

async function run(task: Task): Promise<TaskResult> {
  omitWorker();
  return (await start())(task);
}

function start(): Promise<Run> {
  started ??= startWorker().catch(() => runHere);
  return started;
}

/** If the worker cannot be loaded. */
async function runHere(task: Task): Promise<TaskResult> {
  if (task.action === 'derive') return deriveKeys(task.key, task.salt);
  return portableCipher(task.key)[task.action](task.place, task.bytes);
}

/** Resolves when the worker is ready. Chunks are moved to it, so afterwards they cannot be processed here. */
function startWorker(): Promise<Run> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(trustedScriptUrl(workerUrl), { type: 'module' });
    const pending = new Map<number, PromiseWithResolvers<TaskResult>>();
    let lastId = 0;
    let takesTasks = false;

    /** The next task starts another worker, unless this one could not be loaded. */
    function retire(): void {
      if (takesTasks) started = undefined;
      takesTasks = false;
    }

    const run: Run = (task) => {
      lastId += 1;
      const answer = Promise.withResolvers<TaskResult>();
      pending.set(lastId, answer);
      worker.postMessage({ id: lastId, task }, 'bytes' in task ? [task.bytes.buffer as ArrayBuffer] : []);
      if (task.action === 'derive') retire();
      return answer.promise;
    };

    worker.onmessage = ({ data: { id, result } }: MessageEvent<WorkerMessage>) => {
      if (id === undefined) {
        takesTasks = true;
        return resolve(run);
      }
      pending.get(id)?.resolve(result);
      pending.delete(id);
      // The memory of a worker that has derived keys may contain them.
      if (!takesTasks && pending.size === 0) worker.terminate();
    };
    worker.onerror = ({ message }) => {
      const error = new Error(`The worker for encryption failed: ${message}`);
      reject(error);
      for (const answer of pending.values()) answer.reject(error);
      retire();
      worker.terminate();
    };
  });
}
