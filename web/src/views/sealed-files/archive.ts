/** A zip archive of encrypted files, made while it is saved: the server cannot read them. */
import { PoproomError } from '../../../../src/client/error.ts';
import { localPaths } from '../../../../src/core/files/local-name.ts';
import { planZip, zipChunks } from '../../../../src/zip/format.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { crc32 } from './crc32.ts';
import type { DownloadSource } from './download-state.ts';

export function archiveOf(room: RoomModel, files: readonly SharedFile[]): DownloadSource {
  // Windows has the strictest rules for names.
  const paths = localPaths(files, 'win32');
  const plan = planZip(
    files.map((file, i) => ({
      file,
      path: paths[i]?.join('/') ?? file.fileId,
      size: file.fileSize,
      modifiedAt: Date.parse(file.uploadedAt),
    })),
  );
  const open = async (signal: AbortSignal) =>
    streamOf(zipChunks(plan, async ({ file }) => chunksOf(room, file, signal), crc32));
  return { name: `poproom-${room.code}.zip`, type: 'application/zip', size: plan.length, open };
}

/** The error of a damaged file names it. */
async function* chunksOf(room: RoomModel, file: SharedFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    const { body } = await room.requests().download(file, { signal });
    const reader = body?.getReader();
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) yield next.value;
  } catch (error) {
    if (!(error instanceof PoproomError)) throw error;
    const { code, message, details } = error;
    throw new PoproomError(code, message, { details: { ...details, fileName: file.fileName } });
  }
}

/** Not all browsers have `ReadableStream.from`. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: async () => void (await chunks.return(undefined)),
  });
}
