/** The service worker stores each share in this cache under its own URL, with the time in this header. */
export const shareCacheOf = (basePath: string): string => `poproom-share${basePath}`;
export const sharedAt = 'X-Shared-At';
