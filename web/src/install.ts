/** The service worker, which makes the page installable and lets it open offline. */

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** Where the browser has none (plain HTTP on a LAN, private windows), the page works without. */
export function installWorker(): void {
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('poproom', { createScriptURL: (url) => url });
  const url = '/assets/service-worker.js';
  navigator.serviceWorker.register(policy?.createScriptURL(url) ?? url, { scope: '/' }).catch(() => undefined);
}
