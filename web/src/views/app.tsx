/** The frame around every view, and which view it is. */
import { useEffect } from 'preact/hooks';
import { type Place, place } from '../address.ts';
import { lazy } from '../components/lazy.tsx';
import { Notices } from '../components/notices.tsx';
import { t } from '../i18n/index.ts';
import { Header } from './header.tsx';
import { Home } from './home/home.tsx';
import { Outside } from './outside.tsx';
import { RoomPage } from './room/room-page.tsx';

const SharePage = lazy(async () => (await import('./share/share-page.tsx')).SharePage);

export function App() {
  const here = place.value;
  const title = here.at === 'room' && here.code ? `${here.code} · Poproom` : 'Poproom';
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
        <View {...here} />
      </main>
      <Notices />
    </>
  );
}

function View(here: Place) {
  if (here.at === 'home') return <Home />;
  if (here.at === 'share') return <SharePage />;
  return here.code ? (
    <RoomPage key={here.code} code={here.code} />
  ) : (
    <Outside title={t('noSuchCode', { code: here.typed })} />
  );
}
