/** The service worker stores each share in this cache under its own URL, with the time in this header. */
export const shareCache = 'poproom-share';
export const sharedAt = 'X-Shared-At';
