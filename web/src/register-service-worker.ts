/** Registers the service worker, which makes the page installable and available offline. */

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** Without service workers (plain HTTP, private windows), the page works online only. */
export function registerServiceWorker(): void {
  if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('poproom', { createScriptURL: (url) => url });
  const url = '/assets/service-worker.js';
  navigator.serviceWorker.register(policy?.createScriptURL(url) ?? url, { scope: '/' }).catch(() => undefined);
}
