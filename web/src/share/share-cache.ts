/** Where the service worker leaves what was shared, for the page to find, and the header that says when. */
export const shareCache = 'poproom-share';
export const sharedAt = 'X-Shared-At';
