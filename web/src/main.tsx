/** The page begins here. */
import { render } from 'preact';
import { compareClocks } from './device/clock.ts';
import { applyTheme } from './device/preferences.ts';
import { rereadRooms } from './device/recent-rooms.ts';
import { applyLanguage } from './i18n/index.ts';
import { installWorker } from './install.ts';
import { App } from './views/app.tsx';

rereadRooms();
void compareClocks();
applyTheme();
await applyLanguage();
render(<App />, document.getElementById('app') as HTMLElement);
installWorker();
