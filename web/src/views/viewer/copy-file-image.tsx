/** A button that copies a shared image to the clipboard, in browsers that support it. */
import { canCopyImages } from '../../components/clipboard.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';

export interface CopiedFile {
  room: RoomModel;
  file: SharedFile;
}

export function CopyFileImage({ room, file }: CopiedFile) {
  if (!canCopyImages()) return null;
  return (
    <CopyButton
      png={async () => toPng(await room.requests().download(file))}
      label={t('copyFileImage', { name: file.fileName })}
      icon="image"
      compact
    />
  );
}

/** The one image type that every browser lets a page copy. */
async function toPng(response: Response): Promise<Blob> {
  const bitmap = await createImageBitmap(await response.blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}
