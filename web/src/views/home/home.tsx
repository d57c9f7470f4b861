/** The home page: start a room, join one, or return to a recent one. */
import { useEffect } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { RequestsLeft } from '../../components/requests-left.tsx';
import { hasNetwork } from '../../device/network.ts';
import { draftKeys } from '../../device/recent-rooms.ts';
import { t } from '../../i18n/strings.ts';
import { navigate } from '../../router.ts';
import { Illustration } from './illustration.tsx';
import { JoinForm } from './join-form.tsx';
import { PendingShare } from './pending-share.tsx';
import { RecentRooms } from './recent-rooms.tsx';
import { StartForm } from './start-form.tsx';
import '../../style/home.css';

export function Home() {
  useEffect(() => {
    if (draftKeys().length > 0) void forgetEndedRooms();
  }, []);
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
          <p>{t('tagline')}</p>
        </div>
        <Illustration />
      </section>
      <div class="home-cards">
        <StartForm />
        <JoinForm />
      </div>
      <button type="button" class="button show-qr" onClick={() => navigate('/invite')}>
        <Icon name="qr" />
        {t('showInviteQr')}
      </button>
      <RequestsLeft />
      <RecentRooms />
      <p class="small-print">{t('smallPrint')}</p>
    </div>
  );
}

/** Few devices have drafts. If the code cannot be loaded, the next page load retries. */
async function forgetEndedRooms(): Promise<void> {
  await import('../../room/drafts.ts').then(
    ({ forgetEndedRooms }) => forgetEndedRooms(),
    () => undefined,
  );
}
