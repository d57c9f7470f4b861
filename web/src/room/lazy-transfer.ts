/** Sends and receives files. The code for that is loaded with the first of them. */
import { PoproomError } from '../../../src/client/error.ts';
import type { FileTransfer } from '../../../src/client/room.ts';

export async function loadTransfer(): Promise<FileTransfer> {
  const [{ upload }, { receive }] = await Promise.all([
    import('../../../src/client/upload.ts'),
    import('../../../src/client/download.ts'),
  ]);
  return { upload, receive };
}

export const lazyTransfer: FileTransfer = {
  upload: async (...values) => (await loadTransfer().catch(failToLoad)).upload(...values),
  receive: async (...values) => (await loadTransfer().catch(failToLoad)).receive(...values),
};

/** Offline, or after an update of the server, which no longer has the files of this page. */
function failToLoad(cause: unknown): never {
  throw new PoproomError('OFFLINE', String(cause), { details: { reason: 'code' } });
}
