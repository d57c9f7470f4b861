/** The operations of an encrypted room. This module and the cryptography are loaded on demand. */
import type { LinkRole } from '../../protocol/link-rights.ts';
import { isEncryptedCode, type LinkId, parseLinkId, type RoomCode } from '../../protocol/room-code.ts';
import type {
  CreateLinkRequest,
  CreateRoomRequest,
  FileEntry,
  HistoryEntry,
  Link,
  RoomCreated,
  RoomInfo,
  UpdateRoomRequest,
} from '../../protocol/types.ts';
import { encodeBase64url } from '../crypto/base64url.ts';
import type { CreateChunkCipher } from '../crypto/file-chunks.ts';
import {
  authToken,
  createSalt,
  deriveKeys,
  type EncryptedRoom,
  parseSalt,
  type RoomKeys,
  verifierOf,
} from '../crypto/keys.ts';
import { fragmentOf, parseFragment } from '../crypto/link-keys.ts';
import { openLinkName, sealLinkName, sealRoomName } from '../crypto/metadata.ts';
import { formatRoomKey, generateRoomKey, parseRoomKey } from '../crypto/room-key.ts';
import { EncryptionError, invalidMessage, PoproomError } from '../error.ts';
import { isFileList, isHistoryList, isRoomInfo } from '../response-checks.ts';
import { type MethodWithArgument, type RoomBase, senderHeaders } from '../room.ts';
import { accessHeaders, type RoomAccess, type SeenVersion, type UnlockedRoom } from '../room-access.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { createChannelCodec } from './channel-codec.ts';
import { createSealedContent, type RoomCall } from './content.ts';
import { createSealedFiles } from './encrypted-files.ts';
import { notEncrypted, openFiles, withRoomName } from './opened.ts';
import { createSeenVersions, type SeenVersions } from './versions.ts';

/** Keys that are known from the creation of the room, or derive from its room key. */
export interface KeySource {
  key: string;
  keys?: RoomKeys | undefined;
  /** The salt of the room, in base64url, if it is known. The server must not send another one. */
  salt?: string | undefined;
  /** Requests the room without its key, for example before this code was loaded. The refusal has the salt. */
  ask?: (() => Promise<unknown>) | undefined;
  /** Derives the keys, for example on another thread. */
  derive?: typeof deriveKeys | undefined;
  /** Encrypts and decrypts the chunks of files, for example on another thread. */
  cipher?: CreateChunkCipher | undefined;
}

export interface Unlocked extends UnlockedRoom {
  readonly room: EncryptedRoom;
  /** Set with a drop link: its public key. There are no other keys. */
  readonly dropKey?: Uint8Array | undefined;
  readonly seen: SeenVersions;
  readonly cipher?: CreateChunkCipher | undefined;
}

interface UnlockOptions {
  readonly seen: SeenVersion | undefined;
  readonly onSeen: (seen: SeenVersion) => void;
  readonly onSalt: (salt: string) => void;
}

const saltTimeoutSeconds = 30;

/** Asks the server for the salt of the room. A key with a typo fails before that. */
export async function unlock(
  transport: Transport,
  path: string,
  code: RoomCode,
  source: KeySource,
  { seen: start, onSeen, onSalt }: UnlockOptions,
): Promise<Unlocked> {
  if (parseLinkId(code)) return unlockLink(source, { seen: start, onSeen });
  const key = parseRoomKey(source.key);
  const ask = () => transport.call(path, isRoomInfo, { timeoutSeconds: saltTimeoutSeconds });
  const { derive = deriveKeys } = source;
  const requestKeys = async () => {
    const salt = await requestSalt(source.ask ?? ask);
    if (source.salt !== undefined && encodeBase64url(salt) !== source.salt) throw otherSalt();
    onSalt(encodeBase64url(salt));
    return derive(key, salt);
  };
  const keys = source.keys ?? (await requestKeys());
  const room: EncryptedRoom = { code, keys };
  const seen = createSeenVersions(start, onSeen);
  const createCodec: Unlocked['createCodec'] = (text) => createChannelCodec(room, seen, text);
  return { room, seen, cipher: source.cipher, auth: authToken(keys), createCodec };
}

/** The keys of a link are in its fragment, so nothing is requested. */
function unlockLink(source: KeySource, { seen: start, onSeen }: Omit<UnlockOptions, 'onSalt'>): Unlocked {
  const found = parseFragment(source.key);
  const none = new Uint8Array(0);
  const noKeys: RoomKeys = { auth: none, text: none, meta: none, file: none, drop: none };
  const room = found.role === 'read' ? { code: found.code, keys: found.keys } : { code: '' as RoomCode, keys: noKeys };
  const seen = createSeenVersions(start, onSeen);
  const dropKey = found.role === 'drop' ? found.publicKey : undefined;
  const createCodec: Unlocked['createCodec'] = (text) => {
    if (dropKey) throw dropOnly();
    return createChannelCodec(room, seen, text);
  };
  return { room, dropKey, seen, cipher: source.cipher, auth: undefined, createCodec };
}

const dropOnly = () => new PoproomError('DROP_ONLY', 'This link may only add files to the room.');

/** Only a room that asks for a key is encrypted. */
async function requestSalt(ask: () => Promise<unknown>): Promise<Uint8Array> {
  const refusal = await ask().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refusal === undefined) throw notEncrypted();
  if (!(refusal instanceof PoproomError)) throw refusal;
  if (refusal.code === 'PIN_REQUIRED') throw notEncrypted();
  if (refusal.code !== 'KEY_REQUIRED') throw refusal;
  const { scheme, salt } = refusal.details;
  if (scheme !== 'pop1' || typeof salt !== 'string') throw invalidMessage('an unknown encryption scheme');
  return parseSalt(salt);
}

const otherSalt = () =>
  new EncryptionError(
    'DATA_DAMAGED',
    'The server sent another salt for this room than before. Nothing was sent. It is another room, or the server has changed it.',
  );

/** Creates a room with a new key. The name is sealed with the code of the room, so it is set after the creation. */
export async function createEncrypted<Room extends RoomBase>(
  post: (json: CreateRoomRequest) => Promise<RoomCreated>,
  open: (code: string, source: KeySource) => Room,
  { name, ...request }: CreateRoomRequest,
  derive = deriveKeys,
): Promise<RoomCreated & { room: Room }> {
  const [key, salt] = [generateRoomKey(), createSalt()];
  const keys = await derive(key, salt);
  const encryption = { scheme: 'pop1', salt: encodeBase64url(salt), verifier: verifierOf(keys) } as const;
  const created = await post({ ...request, encryption });
  const room = open(created.roomId, { key: formatRoomKey(key), keys, salt: encryption.salt });
  try {
    if (created.encrypted !== true || !isEncryptedCode(created.roomId as RoomCode)) throw notSupported();
    if (name) await room.update({ name });
  } catch (error) {
    await room.delete().catch(() => undefined);
    throw error;
  }
  return { ...created, ...(name && { name }), room };
}

/** For a server that ignores `encryption`, or gives the room a code that hides it from those who join. */
const notSupported = () =>
  new EncryptionError('NOT_ENCRYPTED', 'This server does not support encrypted rooms. The room was not kept.');

/** The room without encryption, to send its requests. */
interface PlainRoom {
  transport: Transport;
  path: string;
  plain: RoomBase;
  access: RoomAccess;
}

/** The operations that differ from those of an ordinary room, and all that send an argument: it may be plaintext. */
export function createSealedOperations(
  { room, seen, cipher, dropKey }: Pick<Unlocked, 'room' | 'seen' | 'cipher' | 'dropKey'>,
  { transport, path, plain, access }: PlainRoom,
) {
  const call: RoomCall = async (end, shape, call = {}) =>
    transport.call(path + end, shape, { ...call, headers: { ...(await accessHeaders(access)), ...call.headers } });
  const target = async () => ({ transport, path, headers: await senderHeaders(access) });
  const content = createSealedContent(room, seen, call);

  const openInfo = (info: RoomInfo): RoomInfo => {
    if (info.encrypted !== true) throw notEncrypted();
    return withRoomName(room, info);
  };

  const zipUnavailable = async (): Promise<never> => {
    throw new EncryptionError(
      'ZIP_UNAVAILABLE',
      'The server cannot make a zip archive of encrypted files. Download them one by one.',
    );
  };

  const files = createSealedFiles(room, plain, target, cipher, dropKey);
  const info = async (options?: CallOptions) => openInfo(await plain.info(options));
  // Nothing else may be sent, above all no plaintext.
  if (dropKey) {
    const { upload, cancelUpload } = files;
    return { ...refuseAll(plain), info, upload, cancelUpload, uploadTicket: plain.uploadTicket };
  }

  /** The URL with the keys, which the server does not have. */
  const openLink = ({ name, ...link }: Link): Link => {
    const opened = name === undefined ? undefined : openNameOf(room, link.role, name);
    const url = `${transport.url}/r/${encodeURIComponent(link.linkId)}#${fragmentOf(room, link.role)}`;
    return { ...link, link: url, ...(opened !== undefined && { name: opened }) };
  };

  // These send ids or settings, and nothing of the room's content.
  const { claim, confirmClaim, releaseClaim, removeFile, restoreFile, revokeLink, report } = plain;
  const { createWebhook, deleteWebhook, uploadTicket } = plain;

  return {
    ...{ claim, confirmClaim, releaseClaim, removeFile, restoreFile, revokeLink, report },
    ...{ createWebhook, deleteWebhook, uploadTicket },
    ...content,
    ...files,
    info,
    // The server knows only the sizes of sealed data.
    details: async (options?: CallOptions) => openInfo(await plain.info(options)),
    async update({ name, ...changes }: UpdateRoomRequest, options?: CallOptions): Promise<RoomInfo> {
      const sealed = name === undefined ? {} : { name: name ? sealRoomName(room, name) : name };
      return openInfo(await plain.update({ ...changes, ...sealed }, options));
    },
    async restore(version: number, options?: CallOptions) {
      const { content: text } = await content.historyText(version, options);
      return content.write(text, options);
    },
    history: async (options?: CallOptions): Promise<HistoryEntry[]> =>
      (await call('/history', isHistoryList, options)).history,
    files: async (options?: CallOptions): Promise<FileEntry[]> =>
      openFiles(room, (await call('/files', isFileList, options)).files),
    async createLink({ name, ...request }: CreateLinkRequest, options?: CallOptions): Promise<Link> {
      const sealed = name ? { name: sealLinkName(room, request.role, name) } : {};
      const link = await plain.createLink({ ...request, ...sealed }, options);
      // Without the symbol, its holders would not be asked for the keys.
      if (link.role === request.role && isEncryptedCode(link.linkId as LinkId)) return openLink(link);
      await plain.revokeLink(link.linkId).catch(() => undefined);
      throw notEncrypted();
    },
    links: async (options?: CallOptions): Promise<Link[]> => (await plain.links(options)).map(openLink),
    downloadZip: zipUnavailable,
    zipUrl: zipUnavailable,
  } satisfies Partial<RoomBase> & Pick<RoomBase, MethodWithArgument>;
}

/** Undefined if it does not open. */
function openNameOf(room: EncryptedRoom, role: LinkRole, envelope: string): string | undefined {
  try {
    return openLinkName(room, role, envelope);
  } catch {
    return undefined;
  }
}

/** For the operations that a drop link does not have. */
function refuseAll(plain: RoomBase): Partial<RoomBase> {
  const refuse = async (): Promise<never> => {
    throw dropOnly();
  };
  return Object.fromEntries(Object.keys(plain).map((name) => [name, refuse]));
}
