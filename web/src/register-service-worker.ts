/** Registers the service worker, which makes the page installable and available offline. */
import { basePath } from './base-path.ts';
import { trustedScriptUrl } from './trusted-script-url.ts';

/** Without service workers (plain HTTP, private windows), the page works online only. */
export function registerServiceWorker(): void {
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
  const url = trustedScriptUrl(`${basePath}/assets/service-worker.js`);
  navigator.serviceWorker.register(url, { scope: `${basePath}/` }).catch(() => undefined);
}
