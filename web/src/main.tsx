/** The page begins here. */
import { render } from 'preact';
import { applyTheme } from './device/preferences.ts';
import { installWorker } from './install.ts';
import { App } from './views/app.tsx';
import { applyLanguage } from './words/index.ts';

applyTheme();
applyLanguage();
render(<App />, document.getElementById('app') as HTMLElement);
installWorker();
