/** A file that is deleted after its first download: it can be received or removed, but not opened or linked. */
import { Icon } from '../../components/icon.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { FileMenu } from './file-row.tsx';
import { Thumbnail } from './thumbnail.tsx';

interface Props {
  room: RoomModel;
  file: SharedFile;
  /** The device that added it. */
  addedBy: string;
  isNew: boolean;
  onReceive: () => void;
  onRemove: (byKeyboard: boolean) => void;
}

export function OneTimeRow({ room, file, addedBy, isNew, onReceive, onRemove }: Props) {
  const { fileId, fileName: name, fileSize, contentType, uploadedAt, folder } = file;
  return (
    <li class="file one-time" data-id={fileId} data-new={isNew || undefined}>
      <Thumbnail url="" name={name} type={contentType} />
      <div class="file-info">
        <span dir="auto" title={name}>
          {name}
        </span>
        <small>
          <span>{folder ? `${folder}/ · ${size(fileSize)}` : size(fileSize)}</span>
          <span>
            <bdi>{addedBy}</bdi> · <TimeAgo at={uploadedAt} />
          </span>
        </small>
        <small class="once-mark">
          <Icon name="once" />
          {t('oneTimeFile')}
        </small>
      </div>
      <div class="file-actions">
        <button type="button" class="button receive" aria-label={t('receiveFile', { name })} onClick={onReceive}>
          <Icon name="down" />
          <span>{t('receive')}</span>
        </button>
        <FileMenu room={room} file={file} onRemove={onRemove} />
      </div>
    </li>
  );
}
