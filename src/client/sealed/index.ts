/** The operations of an encrypted room. This module and the cryptography are loaded on demand. */
import { isEncryptedCode, type LinkId, parseLinkId, type RoomCode } from '../../protocol/room-code.ts';
import type { SeenVersion } from '../../protocol/sealed.ts';
import type * as types from '../../protocol/types.ts';
import { encodeBase64url } from '../crypto/base64url.ts';
import type { CreateChunkCipher } from '../crypto/chunk-cipher.ts';
import type { EncryptedRoom, RoomKeys } from '../crypto/keys.ts';
import { authToken, createSalt, deriveKeys, fragmentOf, parseFragment, parseSalt, verifierOf } from '../crypto/keys.ts';
import { openLinkName, sealLinkName, sealRoomName } from '../crypto/metadata.ts';
import { formatRoomKey, generateRoomKey, parseRoomKey } from '../crypto/room-key.ts';
import { EncryptionError, invalidMessage, PoproomError } from '../error.ts';
import { createRoomCalls } from '../requests.ts';
import { isRoomInfo } from '../response-checks.ts';
import { type MethodWithArgument, type RoomBase, senderHeaders } from '../room.ts';
import type { RoomAccess } from '../room-access.ts';
import type { UnlockedRoom } from '../room-encryption.ts';
import { attempt } from '../shapes.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { createChannelCodec } from './channel-codec.ts';
import { createSealedContent } from './content.ts';
import { createSealedFiles } from './encrypted-files.ts';
import { notEncrypted, openFiles, withRoomName } from './opened.ts';
import { createSeenVersions } from './versions.ts';

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
  options: UnlockOptions,
): Promise<Unlocked> {
  if (parseLinkId(code)) return unlockLink(source, options);
  const key = parseRoomKey(source.key);
  const ask = () => transport.call(path, isRoomInfo, { timeoutSeconds: saltTimeoutSeconds });
  const { derive = deriveKeys } = source;
  const requestKeys = async () => {
    const salt = await requestSalt(source.ask ?? ask);
    if (source.salt !== undefined && encodeBase64url(salt) !== source.salt) throw otherSalt();
    options.onSalt(encodeBase64url(salt));
    return derive(key, salt);
  };
  return unlockedRoom({ code, keys: source.keys ?? (await requestKeys()) }, source, options);
}

/** The keys of a link are in its fragment, so nothing is requested. */
function unlockLink(source: KeySource, options: UnlockOptions): Unlocked {
  const found = parseFragment(source.key);
  if (found.role === 'read') return unlockedRoom({ code: found.code, keys: found.keys }, source, options);
  const none = new Uint8Array(0);
  const keys: RoomKeys = { auth: none, text: none, meta: none, file: none, drop: none };
  return unlockedRoom({ code: '' as RoomCode, keys }, source, options, found.publicKey);
}

export type Unlocked = ReturnType<typeof unlockedRoom>;

/** `dropKey` is the public key of a drop link. There are no other keys then. */
function unlockedRoom(room: EncryptedRoom, { cipher }: KeySource, options: UnlockOptions, dropKey?: Uint8Array) {
  const seen = createSeenVersions(options.seen, options.onSeen);
  const createCodec: UnlockedRoom['createCodec'] = (text) => {
    if (dropKey) throw dropOnly();
    return createChannelCodec(room, seen, text);
  };
  return { room, dropKey, seen, cipher, auth: authToken(room.keys), createCodec };
}

const dropOnly = () => new PoproomError('DROP_ONLY', 'This link may only add files to the room.');

/** Only a room that asks for a key is encrypted. */
async function requestSalt(ask: () => Promise<unknown>): Promise<Uint8Array> {
  const refusal: unknown = await ask().then(notEncrypted, (error) => error);
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
  post: (json: types.CreateRoomRequest) => Promise<types.RoomCreated>,
  open: (code: string, source: KeySource) => Room,
  { name, ...request }: types.CreateRoomRequest,
  derive = deriveKeys,
): Promise<types.RoomCreated & { room: Room }> {
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

/**
 * The operations that differ from those of an ordinary room, and all that send an argument: it may be plaintext. `plain`
 * sends the requests.
 */
export function createSealedOperations(
  { room, seen, cipher, dropKey }: Unlocked,
  { transport, path, plain, access }: { transport: Transport; path: string; plain: RoomBase; access: RoomAccess },
) {
  const { call } = createRoomCalls(transport, access);
  const target = async () => ({ transport, path, headers: await senderHeaders(access) });
  const content = createSealedContent(room, seen, call);

  const openInfo = (info: types.RoomInfo): types.RoomInfo => {
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
  const openLink = ({ name, ...link }: types.Link): types.Link => {
    const opened = name === undefined ? undefined : attempt(() => openLinkName(room, link.role, name));
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
    details: info,
    async update({ name, ...changes }: types.UpdateRoomRequest, options?: CallOptions): Promise<types.RoomInfo> {
      const sealed = name === undefined ? {} : { name: name && sealRoomName(room, name) };
      return openInfo(await plain.update({ ...changes, ...sealed }, options));
    },
    restore: async (version: number, options?: CallOptions) =>
      content.write((await content.historyText(version, options)).content, options),
    files: async (options?: CallOptions) => openFiles(room, await plain.files(options)),
    async createLink({ name, ...request }: types.CreateLinkRequest, options?: CallOptions): Promise<types.Link> {
      const sealed = name ? { name: sealLinkName(room, request.role, name) } : {};
      const link = await plain.createLink({ ...request, ...sealed }, options);
      // Without the symbol, its holders would not be asked for the keys.
      if (link.role === request.role && isEncryptedCode(link.linkId as LinkId)) return openLink(link);
      await plain.revokeLink(link.linkId).catch(() => undefined);
      throw notEncrypted();
    },
    links: async (options?: CallOptions): Promise<types.Link[]> => (await plain.links(options)).map(openLink),
    downloadZip: zipUnavailable,
    zipUrl: zipUnavailable,
  } satisfies Partial<RoomBase> & Pick<RoomBase, MethodWithArgument>;
}

/** For the operations that a drop link does not have. */
function refuseAll(plain: RoomBase): Partial<RoomBase> {
  const refuse = () => Promise.reject(dropOnly());
  return Object.fromEntries(Object.keys(plain).map((name) => [name, refuse]));
}
