/** The entry point of the page. */
import { render } from 'preact';
import { keepFocus } from './components/keep-focus.ts';
import { measureClockOffset } from './device/clock.ts';
import { applyTheme } from './device/preferences.ts';
import { reloadRecentRooms } from './device/recent-rooms.ts';
import { applyLanguage } from './i18n/strings.ts';
import { basePath, forwardedTo } from './page-settings.ts';
import { whenLoaded } from './prefetch.ts';
import { trustedScriptUrl } from './trusted-script-url.ts';
import { App, loadFirstView } from './views/app.tsx';

reloadRecentRooms();
void measureClockOffset();
applyTheme();
void start();

/** Not with a top-level await: the code of the view imports this module, and would wait for it. */
async function start(): Promise<void> {
  await Promise.all([applyLanguage(), loadFirstView()]);
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
