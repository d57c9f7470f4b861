/** The shape of a room while it loads. */
import { t } from '../../i18n/strings.ts';
import { Code } from './invite-options.tsx';

export function RoomSkeleton({ code }: { code: string }) {
  return (
    <div class="room skeleton" aria-busy="true">
      <aside class="card invitation">
        <div class="invitation-head">
          <div>
            <h2>{t('roomCode')}</h2>
            <Code code={code} />
          </div>
        </div>
      </aside>
      <div class="room-panels">
        <i class="skeleton-device" />
        <p class="skeleton-text" role="status">
          {t('joining', { code })}
        </p>
      </div>
    </div>
  );
}
