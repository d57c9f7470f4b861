/** Where this page is hosted. A server that is not at the root of its host has a path, such as `/poproom`. */

/** The URL of the server without a slash at the end. All scripts are in the folder `assets` below it. */
export const baseUrl = import.meta.url.replace(/(\/[^/]*){2}$/, '');
/** Empty at the root of the host. */
export const basePath = baseUrl.slice(location.origin.length);

/** The URL of the server, if `poproom ui` serves this page and forwards its requests. Empty otherwise. */
export const forwardedTo = document.querySelector<HTMLMetaElement>('meta[name="poproom-server"]')?.content ?? '';
