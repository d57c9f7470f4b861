/** Content that other apps shared with this page, as stored by the service worker. */
import { basePath } from '../base-path.ts';
import { shareCacheOf, sharedAt } from './share-cache.ts';

export interface SharedContent {
  /** The id of the share. */
  id: string;
  text: string;
  files: File[];
}

const shareCache = shareCacheOf(basePath);
/** A share expires if the user does not choose a room within this time. */
const shareTtlMs = 3_600_000;
const nothing: SharedContent = { id: '', text: '', files: [] };

/** Reads and deletes a share. The caller adds it to a room. */
export async function takeShared(id: string): Promise<SharedContent> {
  const content = await readShared(id);
  await deleteShared(id);
  return content;
}

/** The share with this id, or the newest pending one. */
export async function readShared(id?: string): Promise<SharedContent> {
  if (!('caches' in window) || !(await caches.has(shareCache))) return nothing;
  const cache = await caches.open(shareCache);
  const shareId = id ?? (await pendingIn(cache)).at(-1);
  const stored = shareId === undefined ? undefined : await cache.match(shareId);
  return stored ? { id: shareId as string, ...(await contentOf(stored)) } : nothing;
}

/** The ids of all pending shares, oldest first. Deletes expired ones. */
async function pendingIn(cache: Cache): Promise<string[]> {
  const ids: string[] = [];
  for (const { url } of await cache.keys()) {
    const stored = await cache.match(url);
    if (Date.now() - Number(stored?.headers.get(sharedAt)) <= shareTtlMs) ids.push(url);
    else await cache.delete(url);
  }
  if (ids.length === 0) await caches.delete(shareCache);
  return ids;
}

async function contentOf(stored: Response): Promise<Omit<SharedContent, 'id'>> {
  const form = await stored.formData();
  const fields = ['title', 'text', 'url'].map((field) => String(form.get(field) ?? '').trim());
  // Apps often repeat the URL in the text.
  const lines = fields.filter(
    (line, i) =>
      line !== '' && !fields.some((other, j) => j !== i && other.includes(line) && (other !== line || j < i)),
  );
  const files = form.getAll('files').filter((entry) => entry instanceof File);
  return { text: lines.join('\n'), files };
}

export async function deleteShared(id: string): Promise<void> {
  if (!('caches' in window)) return;
  const cache = await caches.open(shareCache);
  await cache.delete(id);
  await pendingIn(cache);
}
