/** Where the service worker leaves what was shared, each under an address of its own, and the header that says when. */
export const shareCache = 'poproom-share';
export const sharedAt = 'X-Shared-At';
