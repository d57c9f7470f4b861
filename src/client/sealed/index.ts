/** The operations of an encrypted room. This module and the cryptography are loaded on demand. */
import type { RoomCode } from '../../protocol/room-code.ts';
import type { CreateRoomRequest, FileEntry, HistoryEntry, RoomInfo, UpdateRoomRequest } from '../../protocol/types.ts';
import {
  authToken,
  createSalt,
  deriveKeys,
  type EncryptedRoom,
  encodeBase64url,
  generateRoomKey,
  parseRoomKey,
  parseSalt,
  type RoomKey,
  type RoomKeys,
  sealRoomName,
  verifierOf,
} from '../crypto/index.ts';
import type { SeenVersion, UnlockedRoom } from '../encryption.ts';
import { EncryptionError, invalidMessage, PoproomError } from '../error.ts';
import type { RoomBase } from '../room-base.ts';
import { isFileList, isHistoryList, isRoomInfo } from '../shapes.ts';
import type { CallOptions, Transport } from '../transport.ts';
import type { UploadTarget } from '../upload.ts';
import { createChannelCodec } from './channel-codec.ts';
import { createSealedContent, type RoomCall } from './content.ts';
import { createSealedFiles } from './files.ts';
import { notEncrypted } from './not-encrypted.ts';
import { openFile, withRoomName } from './opened.ts';
import { createSeenVersions, type SeenVersions } from './seen-versions.ts';

export { formatRoomKey } from '../crypto/index.ts';

/** Keys that are known from the creation of the room, or derive from its room key. */
export interface KeySource {
  key: string;
  keys?: RoomKeys | undefined;
}

export interface Unlocked extends UnlockedRoom {
  readonly room: EncryptedRoom;
  readonly seen: SeenVersions;
}

const requestTimeoutMs = 30_000;

/** Asks the server for the salt of the room. A key with a typo fails before that. */
export async function unlock(
  transport: Transport,
  path: string,
  code: RoomCode,
  source: KeySource,
  { seen: start, onSeen }: { seen: SeenVersion | undefined; onSeen: (seen: SeenVersion) => void },
): Promise<Unlocked> {
  const key = parseRoomKey(source.key);
  const keys = source.keys ?? (await deriveKeys(key, await requestSalt(transport, path)));
  const room: EncryptedRoom = { code, keys };
  const seen = createSeenVersions(start, onSeen);
  return { room, seen, auth: authToken(keys), createCodec: (text) => createChannelCodec(room, seen, text) };
}

/** Only a room that asks for a key is encrypted. */
async function requestSalt(transport: Transport, path: string): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(requestTimeoutMs);
  const refusal = await transport.call(path, isRoomInfo, { signal }).then(
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

/** The key of a new room, and what the server has to know about it. */
export async function createRoomKey(): Promise<{
  key: RoomKey;
  keys: RoomKeys;
  encryption: NonNullable<CreateRoomRequest['encryption']>;
}> {
  const [key, salt] = [generateRoomKey(), createSalt()];
  const keys = await deriveKeys(key, salt);
  return { key, keys, encryption: { scheme: 'pop1', salt: encodeBase64url(salt), verifier: verifierOf(keys) } };
}

/** The operations that differ from those of an ordinary room. */
export type SealedOperations = ReturnType<typeof createSealedOperations>;

export function createSealedOperations(
  { room, seen }: Pick<Unlocked, 'room' | 'seen'>,
  plain: RoomBase,
  call: RoomCall,
  target: () => Promise<UploadTarget>,
) {
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

  return {
    ...content,
    ...createSealedFiles(room, plain, target),
    info: async (options?: CallOptions) => openInfo(await plain.info(options)),
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
      (await call('/files', isFileList, options)).files.map((file) => openFile(room, file)),
    downloadZip: zipUnavailable,
    zipUrl: zipUnavailable,
  };
}
