/** The first view: start a room, join one, or go back to one. */

import { Icon } from '../../components/icon.tsx';
import { hasNetwork } from '../../device/network.ts';
import { t } from '../../i18n/index.ts';
import { JoinForm } from './join-form.tsx';
import { PendingShare } from './pending-share.tsx';
import { Picture } from './picture.tsx';
import { RecentRooms } from './recent-rooms.tsx';
import { StartForm } from './start-form.tsx';

export function Home() {
  return (
    <div class="home">
      {!hasNetwork.value && (
        <p class="alert" role="status">
          <Icon name="offline" />
          <span>{t('youAreOffline')}</span>
        </p>
      )}
      <PendingShare />
      <section class="hero">
        <div>
          <h1>{t('headline')}</h1>
          <p>{t('promise')}</p>
        </div>
        <Picture />
      </section>
      <div class="doors">
        <StartForm />
        <JoinForm />
      </div>
      <RecentRooms />
      <p class="small-print">{t('smallPrint')}</p>
    </div>
  );
}
