/** The home page: start a room, join one, or return to a recent one. */
import { useEffect } from 'preact/hooks';
import { Button } from '../../components/controls.tsx';
import { RequestsLeft } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { draftKeys, recentRooms } from '../../device/recent-rooms.ts';
import englishHome from '../../i18n/languages/en/home.json' with { type: 'json' };
import { addEnglish, translate as t } from '../../i18n/strings.ts';
import { navigate } from '../../router.ts';
import { JoinForm } from './join-form.tsx';
import { RecentRooms } from './recent-room-list.tsx';
import { StartForm } from './start-form.tsx';
import '../../style/home.css';
import { signal, useSignal } from '@preact/signals';
import { basePath, limits } from '../../page-settings.ts';
import { shareCacheOf } from '../../share-target.ts';
import { AbuseContact } from '../header.tsx';

addEnglish(englishHome);

export function Home() {
  useEffect(() => void forgetEndedRooms().catch(() => undefined), []);
  return (
    <div class="home">
      {!hasNetwork.value && (
        <p class="alert" role="status">
          <Icon name="offline" />
          <span>{t('youAreOffline')}</span>
        </p>
      )}
      <PendingShare />
      {recentRooms.value.length > 0 ? (
        <>
          <h1 class="visually-hidden">{t('headline')}</h1>
          <RecentRooms />
        </>
      ) : (
        <section class="hero">
          <div>
            <h1>{t('headline')}</h1>
            <p>{t('tagline')}</p>
          </div>
          <Illustration />
        </section>
      )}
      <div class="home-cards">
        <StartForm />
        <JoinForm />
      </div>
      <Button class="show-qr" icon="qr" label={t('showInviteQr')} onClick={() => navigate('/invite')} />
      <RequestsLeft />
      <p class="small-print">{t('smallPrint')}</p>
      {limits.abuseContact && <AbuseContact />}
    </div>
  );
}

/** Few devices have drafts. If the code cannot be loaded, the next page load retries. */
async function forgetEndedRooms(): Promise<void> {
  if (draftKeys().length > 0) await (await import('../../room/closed-tabs.ts')).forgetEndedRooms();
}

/** An animation: a dot moves from one device to another. */
function Illustration() {
  return (
    <svg class="illustration" viewBox="0 0 320 180" aria-hidden="true">
      <rect class="illustration-room" x="8" y="8" width="304" height="164" rx="28" />
      <g class="illustration-device">
        <rect x="52" y="58" width="104" height="66" rx="8" />
        <path d="M40 132h128" />
      </g>
      <g class="illustration-device">
        <rect x="222" y="50" width="48" height="86" rx="10" />
        <path d="M240 127h12" />
      </g>
      <path class="illustration-path" d="M104 91C140 20 200 20 246 88" />
      <circle class="illustration-from" cx="104" cy="91" r="8" />
      <circle class="illustration-to" cx="246" cy="88" r="8" />
      <circle class="illustration-dot" r="8" />
    </svg>
  );
}

/** Tells the user that content shared from another app still needs a room. */
function PendingShare() {
  const isPending = useSignal(false);
  useEffect(() => void globalThis.caches?.has(shareCacheOf(basePath)).then((has) => (isPending.value = has)), []);
  if (!isPending.value) return null;
  return (
    <p class="alert" role="status">
      <Icon name="share" />
      <span>{t('sharePending')}</span>
      <Button label={t('chooseRoom')} onClick={() => navigate('/share')} />
    </p>
  );
}

const hasNetwork = signal(navigator.onLine);

for (const type of ['online', 'offline']) addEventListener(type, () => (hasNetwork.value = navigator.onLine));
