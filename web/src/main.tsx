/** The entry point of the page. */
import { render } from 'preact';
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
render(<App />, document.getElementById('app') as HTMLElement);
registerServiceWorker();
