/** Registers the service worker, which makes the page installable and available offline. */
import { basePath, forwardedTo } from './base-path.ts';
import { trustedScriptUrl } from './trusted-script-url.ts';

/**
 * Without service workers (plain HTTP, private windows), the page works online only. The page of `poproom ui` must be the
 * one that the command serves, never one from a cache.
 */
export function registerServiceWorker(): void {
  if (!('serviceWorker' in navigator) || import.meta.env.DEV || forwardedTo) return;
  const url = trustedScriptUrl(`${basePath}/assets/service-worker.js`);
  navigator.serviceWorker.register(url, { scope: `${basePath}/` }).catch(() => undefined);
}
