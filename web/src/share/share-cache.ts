/** Where the service worker leaves what was shared, for the page to find. */
export const shareCache = 'poproom-share';
