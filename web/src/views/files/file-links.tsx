/** The thumbnail of a file and the button that downloads it. Those of an encrypted file are decrypted in the page. */
import type { ComponentChildren } from 'preact';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { hrefOf } from '../../server.ts';
import { downloadFiles } from './download-files.ts';
import { isImage } from './file-kind.ts';
import { SealedThumbnail } from './lazy-sealed-files.ts';
import { Thumbnail } from './thumbnail.tsx';

interface Props {
  room: RoomModel;
  file: SharedFile;
}

export function FileThumbnail({ room, file }: Props) {
  const { fileName, contentType, meta, once } = file;
  if (meta !== undefined && !once && isImage(contentType)) return <SealedThumbnail room={room} file={file} />;
  return <Thumbnail url={once || meta !== undefined ? '' : hrefOf(file)} name={fileName} type={contentType} />;
}

interface DownloadProps extends Props {
  class: string;
  'aria-label'?: string;
  title?: string;
  children: ComponentChildren;
}

export function DownloadLink({ room, file, ...button }: DownloadProps) {
  if (file.meta === undefined) return <a {...button} href={`${hrefOf(file)}?download`} download={file.fileName} />;
  return <button {...button} type="button" onClick={() => void downloadFiles(room, [file])} />;
}
