/** The entry point of the page. */
import { render } from 'preact';
import { keepFocus } from './components/keep-focus.ts';
import { measureClockOffset } from './device/clock.ts';
import { applyTheme } from './device/preferences.ts';
import { reloadRecentRooms } from './device/recent-rooms.ts';
import { applyLanguage } from './i18n/index.ts';
import { registerServiceWorker } from './register-service-worker.ts';
import { App } from './views/app.tsx';

reloadRecentRooms();
void measureClockOffset();
applyTheme();
await applyLanguage();
const root = document.getElementById('app') as HTMLElement;
keepFocus(root);
render(<App />, root);
registerServiceWorker();
