/** Adds files to the uploads, unless they are far too many. */
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';
import { spaceLeft } from '../../room/space.ts';
import type { IncomingFile } from '../../room/uploads.ts';

/** More refused files than this would hide the others in the list. */
const maxRefused = 20;

export function addFiles(room: RoomModel, files: readonly IncomingFile[]): void {
  const left = Math.max(0, spaceLeft(room.content.value, room.uploads.list.value).files);
  if (files.length > left + maxRefused) notify(t('tooManyFiles', { n: left }));
  else room.uploads.add(files);
}
