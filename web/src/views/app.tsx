/** The root component: the layout, and the view for the current route. */
import { useEffect } from 'preact/hooks';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { lazy } from '../components/lazy.tsx';
import { Notices } from '../components/notices.tsx';
import { isKnownAsEncrypted, nameOfRoom } from '../device/recent-rooms.ts';
import { keyIn } from '../device/room-keys.ts';
import { unseenCount } from '../device/unseen.ts';
import { t } from '../i18n/strings.ts';
import { prefetchWhenIdle } from '../prefetch.ts';
import { type Route, route } from '../router.ts';
import { askRoom } from '../server.ts';
import { Header } from './header.tsx';
import { MessagePage } from './message-page.tsx';

const Home = lazy(() => import('./home/home.tsx'), 'Home');
const InvitePage = lazy(() => import('./invite/invite-page.tsx'), 'InvitePage');
const RoomPage = lazy(() => import('./room/room-page.tsx'), 'RoomPage');
const MissingFile = lazy(() => import('./missing-file.tsx'), 'MissingFile');
const SharePage = lazy(() => import('./share/share-page.tsx'), 'SharePage');

/** Loads the code of the first view, so that the page is painted as a whole. */
export async function loadFirstView(): Promise<void> {
  const first = route.peek();
  if (first.name === 'home') await Home.load();
  if (first.name !== 'room') return;
  if (first.code) prepareEncryption(first.code);
  await RoomPage.load();
}

/** Asks for the salt of an encrypted room, and loads the code of the encryption, while the view is loaded. */
function prepareEncryption(code: RoomCode): void {
  if (!keyIn(location.href) && !isKnownAsEncrypted(code)) return;
  void askRoom(code);
  // The view reports a failure.
  import('../room/encrypted-room.ts').catch(() => undefined);
}

export function App() {
  const current = route.value;
  // Most people open a room next.
  useEffect(() => prefetchWhenIdle(RoomPage.load), []);
  const unseen = unseenCount.value > 0 ? `(${unseenCount.value}) ` : '';
  const title =
    unseen +
    (current.name === 'room' && current.code ? `${nameOfRoom(current.code) ?? current.code} · Poproom` : 'Poproom');
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <a class="skip-link" href="#main">
        {t('skipToContent')}
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <View {...current} />
      </main>
      <Notices />
    </>
  );
}

function View(current: Route) {
  if (current.name === 'home') return <Home />;
  if (current.name === 'share') return <SharePage />;
  if (current.name === 'invite') return <InvitePage />;
  if (current.name === 'missing-page')
    return <MessagePage title={t('pageMissing')}>{t('pageMissingHint')}</MessagePage>;
  if (current.name === 'missing-file') return <MissingFile />;
  return current.code ? (
    <RoomPage key={current.code} code={current.code} />
  ) : (
    <MessagePage title={t('invalidCode', { code: current.typed })} />
  );
}
