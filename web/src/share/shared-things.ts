/** What other apps handed over to this page by the system's share sheet, kept by the service worker. */
import { shareCache, sharedAt } from './share-cache.ts';

export interface SharedThings {
  text: string;
  files: File[];
}

/** For whom to choose a room takes longer, it is not worth keeping. */
const keptMs = 3_600_000;
const nothing: SharedThings = { text: '', files: [] };
/** To be put into a room; from then on it is there and nowhere else. */
export async function takeShared(): Promise<SharedThings> {
  const things = await readShared();
  await forgetShared();
  return things;
}

export async function readShared(): Promise<SharedThings> {
  if (!('caches' in window)) return nothing;
  const stored = (await caches.has(shareCache)) ? await (await caches.open(shareCache)).match('/share') : undefined;
  if (!stored) return nothing;
  if (Date.now() - Number(stored.headers.get(sharedAt)) > keptMs) {
    await forgetShared();
    return nothing;
  }
  const form = await stored.formData();
  const words = ['title', 'text', 'url'].map((field) => String(form.get(field) ?? '').trim());
  // Apps often put the address into the text as well.
  const lines = words.filter(
    (line, i) => line !== '' && !words.some((other, j) => j !== i && other.includes(line) && (other !== line || j < i)),
  );
  const files = form.getAll('files').filter((entry) => entry instanceof File);
  return { text: lines.join('\n'), files };
}

export async function forgetShared(): Promise<void> {
  if ('caches' in window) await caches.delete(shareCache);
}
