/** Caches the page for offline use, receives content that other apps share, and handles clicks on notifications. */
import { shareCacheOf, sharedAt } from './share-target.ts';

/** Set by the build: the files of every page, by their paths in the scope, and a hash of all files. */
declare const __SHELL__: string[];
declare const __VERSION__: string;
/** Set by the build: the file with the strings of each language, except English. */
declare const __LANGUAGES__: Record<string, string>;

interface Worker {
  addEventListener<Type extends keyof Events>(type: Type, listen: (event: Events[Type]) => void): void;
  clients: {
    claim(): Promise<void>;
    matchAll(options: object): Promise<{ url: string; focus(): Promise<unknown> }[]>;
    openWindow(url: string): Promise<unknown>;
  };
  registration: { scope: string };
}
interface Extendable {
  waitUntil(work: Promise<unknown>): void;
}
interface Events {
  install: Extendable;
  activate: Extendable;
  fetch: { request: Request; respondWith(response: Promise<Response>): void };
  notificationclick: Extendable & { notification: Notification };
}

const worker = self as unknown as Worker;
/** The path of the home page. Other installations may use other paths of this origin, and all share the caches. */
const scope = new URL(worker.registration.scope).pathname;
const basePath = scope.slice(0, -1);
const shellPrefix = `poproom-shell${basePath && scope}-`;
const shellCache = shellPrefix + __VERSION__;
const shareCache = shareCacheOf(basePath);
/** On a slow network, serve the cached page after this time. */
const networkTimeoutMs = 3_000;
/** Shares that are stored until the user chooses a room. */
const maxPendingShares = 10;

// No skipWaiting: open pages of the old version may still need their own files.
worker.addEventListener('install', (event) => event.waitUntil(cacheShell()));
worker.addEventListener('activate', (event) => event.waitUntil(replaceOldShells()));

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin || !pathname.startsWith(scope)) return;
  const path = pathname.slice(basePath.length);
  if (request.method === 'POST' && path === '/share') event.respondWith(storeShare(request));
  else if (request.mode === 'navigate' && isPage(path)) event.respondWith(page(request));
  else if (request.method === 'GET' && path.startsWith('/assets/')) event.respondWith(asset(request));
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(focusPage(String(event.notification.data)));
});

/** The page that has shown the notification, or a new one if the user has closed it. */
async function focusPage(path: string): Promise<void> {
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = pages.find(({ url }) => new URL(url).pathname === path);
  await (page ? page.focus() : worker.clients.openWindow(path));
}

const isPage = (path: string) => ['/', '/share', '/invite'].includes(path) || path.startsWith('/r/');

async function cacheShell(): Promise<void> {
  const languages = [...navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()), ...(await cachedLanguages())];
  const paths = new Set([...__SHELL__, ...languages.flatMap((language) => __LANGUAGES__[language] ?? [])]);
  const requests = [...paths].map((path) => new Request(basePath + path, { cache: cacheModeFor(path) }));
  await (await caches.open(shellCache)).addAll(requests);
}

/** A file with a hash in its name never changes, and the browser may have downloaded it for the page already. */
const cacheModeFor = (path: string) => (/\.[0-9a-f]{12}\.\w+$/.test(path) ? 'default' : 'reload');

/** The languages in the cache of the previous version: one of them may be the language that the user has chosen. */
async function cachedLanguages(): Promise<string[]> {
  const requests = await Promise.all((await shells()).map(async (name) => (await caches.open(name)).keys()));
  return requests.flat().flatMap(({ url }) => /\/assets\/([a-z]{2})\.[0-9a-f]{12}\.js$/.exec(url)?.[1] ?? []);
}

const shells = async () => (await caches.keys()).filter((name) => name.startsWith(shellPrefix));

async function replaceOldShells(): Promise<void> {
  const old = (await shells()).filter((name) => name !== shellCache);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** Network first; the cached page if the network fails or is too slow. */
async function page(request: Request): Promise<Response> {
  const fromNetwork = fetch(request);
  const cached = caches.match(scope);
  const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, networkTimeoutMs));
  const response = await Promise.race([fromNetwork, timeout]).catch(() => undefined);
  // Pass redirects through: a proxy may redirect to its sign-in page.
  const isUsable = response?.ok || response?.type === 'opaqueredirect';
  return isUsable ? (response as Response) : ((await cached) ?? fromNetwork);
}

/** A language that the user has chosen is cached when the page loads it. */
async function asset(request: Request): Promise<Response> {
  const cached = await caches.match(request);
  if (cached) return cached;
  const response = await fetch(request);
  const path = new URL(request.url).pathname.slice(basePath.length);
  const isLanguage = Object.values(__LANGUAGES__).includes(path);
  if (isLanguage && response.ok) await (await caches.open(shellCache)).put(request, response.clone());
  return response;
}

/**
 * Stores the submitted form, which the page reads when the user has chosen a room. A form on another site can look like
 * a share if it hides its origin, so a new share never replaces a pending one.
 */
async function storeShare(request: Request): Promise<Response> {
  const origin = request.headers.get('Origin') ?? 'null';
  if (origin !== 'null' && origin !== location.origin) return Response.redirect(scope, 303);
  const cache = await caches.open(shareCache);
  const form = await request.formData();
  const stored = new Response(form);
  stored.headers.set(sharedAt, String(Date.now()));
  await cache.put(`${basePath}/share?${crypto.randomUUID()}`, stored);
  const pending = await cache.keys();
  for (const oldest of pending.slice(0, -maxPendingShares)) await cache.delete(oldest);
  return Response.redirect(`${basePath}/share`, 303);
}
