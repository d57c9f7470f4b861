/** What other apps handed over to this page by the system's share sheet, kept by the service worker. */
import { shareCache, sharedAt } from './share-cache.ts';

export interface SharedThings {
  /** Of the share that they are from. */
  id: string;
  text: string;
  files: File[];
}

/** For whom to choose a room takes longer, it is not worth keeping. */
const keptMs = 3_600_000;
const nothing: SharedThings = { id: '', text: '', files: [] };

/** To be put into a room; from then on it is there and nowhere else. */
export async function takeShared(id: string): Promise<SharedThings> {
  const things = await readShared(id);
  await forgetShared(id);
  return things;
}

/** One share; the newest that waits for a room where none is named. */
export async function readShared(id?: string): Promise<SharedThings> {
  if (!('caches' in window) || !(await caches.has(shareCache))) return nothing;
  const cache = await caches.open(shareCache);
  const shareId = id ?? (await waitingIn(cache)).at(-1);
  const stored = shareId === undefined ? undefined : await cache.match(shareId);
  return stored ? { id: shareId as string, ...(await contentOf(stored)) } : nothing;
}

/** The ids of all that wait, oldest first; what has waited for too long is dropped. */
async function waitingIn(cache: Cache): Promise<string[]> {
  const ids: string[] = [];
  for (const { url } of await cache.keys()) {
    const stored = await cache.match(url);
    if (Date.now() - Number(stored?.headers.get(sharedAt)) <= keptMs) ids.push(url);
    else await cache.delete(url);
  }
  if (ids.length === 0) await caches.delete(shareCache);
  return ids;
}

async function contentOf(stored: Response): Promise<Omit<SharedThings, 'id'>> {
  const form = await stored.formData();
  const words = ['title', 'text', 'url'].map((field) => String(form.get(field) ?? '').trim());
  // Apps often put the address into the text as well.
  const lines = words.filter(
    (line, i) => line !== '' && !words.some((other, j) => j !== i && other.includes(line) && (other !== line || j < i)),
  );
  const files = form.getAll('files').filter((entry) => entry instanceof File);
  return { text: lines.join('\n'), files };
}

export async function forgetShared(id: string): Promise<void> {
  if (!('caches' in window)) return;
  const cache = await caches.open(shareCache);
  await cache.delete(id);
  await waitingIn(cache);
}
