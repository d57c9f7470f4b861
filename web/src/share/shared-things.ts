/** What other apps handed over to this page by the system's share sheet, kept by the service worker. */
import { shareCache } from './share-cache.ts';

export interface SharedThings {
  text: string;
  files: File[];
}

const nothing: SharedThings = { text: '', files: [] };
/** To be put into a room; from then on it is there and nowhere else. */
export async function takeShared(): Promise<SharedThings> {
  const things = await readShared();
  await forgetShared();
  return things;
}

export async function readShared(): Promise<SharedThings> {
  if (!('caches' in window)) return nothing;
  const cache = await caches.open(shareCache);
  const stored = await cache.match('/share');
  if (!stored) return nothing;
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
