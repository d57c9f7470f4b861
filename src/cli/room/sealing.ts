/** `poproom seal` and `poproom open`: filters for programs that send their own requests to encrypted rooms. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { createFileCipher } from '../../client/crypto/file-cipher.ts';
import { authToken, deriveKeys, type EncryptedRoom, parseFragment, parseSalt } from '../../client/crypto/keys.ts';
import { createFileSalt, openFileMetadata, sealFileMetadata } from '../../client/crypto/metadata.ts';
import { parseRoomKey } from '../../client/crypto/room-key.ts';
import { chainStart, sealText } from '../../client/crypto/text-chain.ts';
import { EncryptionError, PoproomError, parseLinkId, type RoomCode } from '../../client/index.ts';
import { isContentRead, isFileList, isHistoryText } from '../../client/response-checks.ts';
import { openFiles } from '../../client/sealed/opened.ts';
import { openVersions } from '../../client/sealed/versions.ts';
import type { Input } from '../command.ts';
import { UsageError, withFileErrors } from '../errors.ts';
import { formatJson, parseJson, printContent, writeStdout } from '../output.ts';
import { readInputText } from '../prompt.ts';
import { withRoom } from '../server-context.ts';
import { spool } from './local-file.ts';

export async function seal(input: Input): Promise<void> {
  const [name, metaPath] = [input.value('name'), input.value('meta')];
  if ((name === undefined) !== (metaPath === undefined)) throw new UsageError('Use --name and --meta together.');
  const { room, auth } = await unlockRoom(input);
  // A reader has the keys, but the server would refuse what it sends.
  if (auth === undefined) throw new PoproomError('READ_ONLY', 'This link may only read the room.');
  if (input.isSet('auth')) return console.log(`X-Room-Auth: ${auth}`);
  if (name !== undefined && metaPath !== undefined) return sealFile(room, input, name, metaPath);
  const base = await baseOf(room, input.value('base'));
  console.log(sealText(room, base, await readInputText()));
}

/** Derives the keys of a room for programs that send their own requests. `auth` is for the header `X-Room-Auth`. */
const unlockRoom = (input: Input): Promise<{ room: EncryptedRoom; auth: string | undefined }> =>
  withRoom(input, async (room) => {
    await room.info();
    const { code, key, salt } = room;
    if (key !== undefined && parseLinkId(code)) {
      const found = parseFragment(key);
      if (found.role === 'drop') throw new PoproomError('DROP_ONLY', 'This link may only add files to the room.');
      return { room: { code: found.code, keys: found.keys }, auth: undefined };
    }
    if (key === undefined || salt === undefined)
      throw new EncryptionError('NOT_ENCRYPTED', 'This room is not encrypted.');
    const keys = await deriveKeys(parseRoomKey(key), parseSalt(salt));
    return { room: { code: code as RoomCode, keys }, auth: authToken(keys) };
  });

async function baseOf(room: EncryptedRoom, path: string | undefined) {
  if (path === undefined) return chainStart;
  const response = parseJson(await withFileErrors(path, async () => readFileSync(path, 'utf8')));
  if (!isContentRead(response)) throw new UsageError(`${path} is not a response of GET …/content.`);
  return openVersions(room, { ...response, version: response.version ?? 0 }, undefined).newest.position;
}

/** The metadata contains the size, so the input is stored before it is encrypted. */
async function sealFile(room: EncryptedRoom, input: Input, name: string, metaPath: string): Promise<void> {
  const bytes = await spool(process.stdin);
  const type = input.value('type') ?? 'application/octet-stream';
  const metadata = { name, type, size: bytes.size, salt: createFileSalt() };
  await withFileErrors(metaPath, async () =>
    writeFileSync(metaPath, `X-File-Meta: ${sealFileMetadata(room, metadata)}\n`, { mode: 0o600 }),
  );
  await writeStdout(bytes.stream().pipeThrough(createFileCipher(room.keys, metadata).encrypt()));
}

export async function open(input: Input): Promise<void> {
  const { room } = await unlockRoom(input);
  const meta = input.value('meta');
  if (meta === undefined) return openResponse(input, room, parseJson(await readInputText()));
  const cipher = createFileCipher(room.keys, openFileMetadata(room, meta));
  const sealed = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  await writeStdout(sealed.pipeThrough(cipher.decrypt()));
}

async function openResponse(input: Input, room: EncryptedRoom, response: unknown): Promise<void> {
  if (isFileList(response)) {
    for (const { fileId, fileName, fileSize, contentType, folder } of openFiles(room, response.files))
      console.log(formatJson({ fileId, fileName, fileSize, contentType, folder }));
    return;
  }
  // An earlier text is the full text of its version.
  const earlier = isHistoryText(response) ? { ...response, contentVersion: response.version } : undefined;
  const text = earlier ?? (isContentRead(response) ? { ...response, version: response.version ?? 0 } : undefined);
  if (!text) throw new UsageError('Standard input must be a response of GET …/content, …/history/VERSION or …/files.');
  printContent(input, { content: openVersions(room, text, undefined).newest.document.toString() });
}
