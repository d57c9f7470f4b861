/** Starts the page, and shows the view for the current route. */
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RoomCode } from '../../src/protocol/room-code.ts';
import { keepFocus } from './components/keep-focus.ts';
import { lazy, prefetchWhenIdle, whenLoaded } from './components/lazy.tsx';
import { Notices, unseenCount } from './components/notices.tsx';
import { applyTheme } from './device/preferences.ts';
import { isKnownAsEncrypted, keyIn, nameOfRoom, reloadRecentRooms } from './device/recent-rooms.ts';
import { applyLanguage, t } from './i18n/strings.ts';
import { basePath, forwardedTo, limits, trustedScriptUrl } from './page-settings.ts';
import { type Route, route } from './router.ts';
import { askRoom, checkRequestLimit, measureClockOffset } from './server-connection.ts';
import { DemoBanner, Header } from './views/header.tsx';
import { MessagePage } from './views/message-page.tsx';

const Home = lazy(() => import('./views/home/home.tsx'), 'Home');
const InvitePage = lazy(() => import('./views/invite/invite-page.tsx'), 'InvitePage');
const RoomPage = lazy(() => import('./views/room/room-page.tsx'), 'RoomPage');
const LinkPage = lazy(() => import('./views/links/link-page.tsx'), 'LinkPage');
const MissingFile = lazy(() => import('./views/missing-file.tsx'), 'MissingFile');
const SharePage = lazy(() => import('./views/share/share-page.tsx'), 'SharePage');

reloadRecentRooms();
void checkRequestLimit().then(measureClockOffset);
applyTheme();
void start();

/** Not with a top-level await: the code of the view imports this module, and would wait for it. */
async function start(): Promise<void> {
  await Promise.all([applyLanguage(), loadFirstView(), limits.demo && DemoBanner.load()]);
  const root = document.getElementById('app') as HTMLElement;
  keepFocus(root);
  render(<App />, root);
  // It downloads all other files, which must not delay the first view.
  whenLoaded(registerServiceWorker);
}

/**
 * Without service workers (plain HTTP, private windows), the page works online only. The page of `poproom ui` must be the
 * one that the command serves, never one from a cache.
 */
function registerServiceWorker(): void {
  if (!('serviceWorker' in navigator) || import.meta.env.DEV || forwardedTo) return;
  const url = trustedScriptUrl(`${basePath}/assets/service-worker.js`);
  navigator.serviceWorker.register(url, { scope: `${basePath}/` }).catch(() => undefined);
}

/** Loads the code of the first view, so that the page is painted as a whole. */
async function loadFirstView(): Promise<void> {
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
  import('./room/encryption.ts').catch(() => undefined);
}

function App() {
  const current = route.value;
  // Most people open a room next.
  useEffect(() => prefetchWhenIdle(RoomPage.load), []);
  const unseen = unseenCount.value > 0 ? `(${unseenCount.value}) ` : '';
  const room = current.name === 'room' && current.code ? `${nameOfRoom(current.code) ?? current.code} · ` : '';
  useEffect(() => {
    document.title = `${unseen}${room}Poproom`;
  }, [unseen, room]);
  return (
    <>
      <a class="skip-link" href="#main">
        {t('skipToContent')}
      </a>
      <Header />
      {limits.demo && <DemoBanner />}
      <main id="main" tabIndex={-1}>
        <View {...current} />
      </main>
      <Notices />
    </>
  );
}

function View(current: Route) {
  if (current.name === 'link') return <LinkPage key={current.id} id={current.id} />;
  if (current.name === 'missing-page') return <MessagePage title={t('pageMissing')} hint={t('pageMissingHint')} />;
  if (current.name !== 'room') {
    const Page = pages[current.name];
    return <Page />;
  }
  if (!current.code) return <MessagePage title={t('invalidCode', { code: current.typed })} />;
  return <RoomPage key={current.code} code={current.code} />;
}

const pages = { home: Home, invite: InvitePage, share: SharePage, 'missing-file': MissingFile };
