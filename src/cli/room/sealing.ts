/** `poproom seal` and `poproom open`: filters for programs that send their own requests to encrypted rooms. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { createFileCipher } from '../../client/crypto/file-cipher.ts';
import type { EncryptedRoom } from '../../client/crypto/keys.ts';
import { createFileSalt, openFileMetadata, sealFileMetadata } from '../../client/crypto/metadata.ts';
import { chainStart, sealText } from '../../client/crypto/text-chain.ts';
import { PoproomError } from '../../client/index.ts';
import { isContentRead, isFileList, isHistoryText } from '../../client/response-checks.ts';
import { openFiles } from '../../client/sealed/opened.ts';
import { openVersion } from '../../client/sealed/versions.ts';
import { assertOnlyCode, type Input } from '../command.ts';
import { UsageError, withFileErrors } from '../errors.ts';
import { formatJson, printContent, writeStdout } from '../output.ts';
import { readInputText } from '../prompt.ts';
import { unlockRoom } from '../server-context.ts';
import { spool } from './local-file.ts';

export async function seal(input: Input): Promise<void> {
  assertOnlyCode('seal', input);
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

async function baseOf(room: EncryptedRoom, path: string | undefined) {
  if (path === undefined) return chainStart;
  const response = parse(await withFileErrors(path, async () => readFileSync(path, 'utf8')));
  if (!isContentRead(response)) throw new UsageError(`${path} is not a response of GET …/content.`);
  return openVersion(room, { ...response, version: response.version ?? 0 }, undefined).position;
}

/** The metadata contains the size, so the input is stored before it is encrypted. */
async function sealFile(room: EncryptedRoom, input: Input, name: string, metaPath: string): Promise<void> {
  const bytes = await spool(process.stdin);
  const type = input.value('type') ?? 'application/octet-stream';
  const metadata = { name, type, size: bytes.size, salt: createFileSalt() };
  await withFileErrors(metaPath, async () =>
    writeFileSync(metaPath, `X-File-Meta: ${sealFileMetadata(room, metadata)}\n`, { mode: 0o600 }),
  );
  await toStdout(bytes.stream().pipeThrough(createFileCipher(room.keys, metadata).encrypt()));
}

export async function open(input: Input): Promise<void> {
  assertOnlyCode('open', input);
  const { room } = await unlockRoom(input);
  const meta = input.value('meta');
  if (meta === undefined) return openResponse(input, room, parse(await readInputText()));
  const cipher = createFileCipher(room.keys, openFileMetadata(room, meta));
  const sealed = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  await toStdout(sealed.pipeThrough(cipher.decrypt()));
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
  printContent(input, { content: openVersion(room, text, undefined).document.toString() });
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

async function toStdout(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const chunk of stream) await writeStdout(chunk);
}
