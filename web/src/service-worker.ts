/** Keeps the page for when there is no network, and takes in what other apps share. */
import { shareCache, sharedAt } from './share/share-cache.ts';

/** Put in by the build: the files of the page, and a name for exactly these. */
declare const __SHELL__: string[];
declare const __VERSION__: string;

interface Worker {
  addEventListener(type: 'install' | 'activate', listen: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'fetch', listen: (event: FetchEvent) => void): void;
  clients: { claim(): Promise<void> };
  location: Location;
}
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  request: Request;
  respondWith(response: Promise<Response>): void;
}

const worker = self as unknown as Worker;
const shellCache = `poproom-shell-${__VERSION__}`;
/** On a bad network the kept page is there sooner than an answer. */
const patienceMs = 3_000;
/** Shares that are kept until a room is chosen for them. */
const mostWaiting = 10;

worker.addEventListener('install', (event) => {
  // A newer one waits until no page of the older is open: those may still need their own files.
  event.waitUntil(keepShell());
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(dropOldShells().then(() => worker.clients.claim()));
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== worker.location.origin) return;
  if (request.method === 'POST' && pathname === '/share') event.respondWith(keepShared(request));
  else if (request.mode === 'navigate' && isPage(pathname)) event.respondWith(page(request));
  else if (request.method === 'GET' && pathname.startsWith('/assets/')) event.respondWith(asset(request));
});

const isPage = (path: string) => path === '/' || path === '/share' || path.startsWith('/r/');

async function keepShell(): Promise<void> {
  const cache = await caches.open(shellCache);
  await cache.addAll(__SHELL__.map((path) => new Request(path, { cache: 'reload' })));
}

async function dropOldShells(): Promise<void> {
  const old = (await caches.keys()).filter((name) => name.startsWith('poproom-shell-') && name !== shellCache);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** The newest page where the network is there, the kept one where it is not. */
async function page(request: Request): Promise<Response> {
  const fromNetwork = fetch(request);
  const kept = caches.match('/');
  const soon = new Promise<undefined>((resolve) => setTimeout(resolve, patienceMs));
  const response = await Promise.race([fromNetwork, soon]).catch(() => undefined);
  // A redirect is an answer too: to the sign-in of a proxy, for one.
  const answered = response?.ok || response?.type === 'opaqueredirect';
  return answered ? (response as Response) : ((await kept) ?? fromNetwork);
}

async function asset(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

/**
 * As the form that it came as; the page reads it when a room has been chosen. A form of another site looks like a share
 * if it hides its origin, so a share never replaces one that still waits.
 */
async function keepShared(request: Request): Promise<Response> {
  const origin = request.headers.get('Origin') ?? 'null';
  if (origin !== 'null' && origin !== worker.location.origin) return Response.redirect('/', 303);
  const cache = await caches.open(shareCache);
  const form = await request.formData();
  const kept = new Response(form);
  kept.headers.set(sharedAt, String(Date.now()));
  await cache.put(`/share?${crypto.randomUUID()}`, kept);
  const waiting = await cache.keys();
  for (const oldest of waiting.slice(0, -mostWaiting)) await cache.delete(oldest);
  return Response.redirect('/share', 303);
}
