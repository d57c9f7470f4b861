/** Asks for the room that content shared from another app goes to. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../../components/controls.tsx';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/strings.ts';
import { basePath } from '../../page-settings.ts';
import { goHome, goToRoom } from '../../router.ts';
import { sendShareTo, shareCacheOf, sharedAt } from '../../share-target.ts';
import { JoinForm, RecentRooms, StartForm } from '../home/home.tsx';
import { MessagePage } from '../message-page.tsx';
import '../../style/home.css';

export function SharePage() {
  const shared = useSignal<SharedContent | undefined>(undefined);
  useEffect(() => void readShared().then((found) => (shared.value = found)), []);
  if (!shared.value) return null;
  const { id, text, files } = shared.value;
  if (text === '' && !files[0]) return <MessagePage title={t('nothingShared')} hint={t('nothingSharedHint')} />;
  const onChosen = (code: string) => {
    sendShareTo(code, id);
    goToRoom(code);
  };
  return (
    <div class="home">
      <h1>{t('shareTitle')}</h1>
      <section class="card shared-content">
        {text && <pre dir="auto">{text}</pre>}
        {files.map((file) => (
          <p key={file}>
            <bdi>{file.name}</bdi> · {size(file.size)}
          </p>
        ))}
      </section>
      <RecentRooms onJoin={onChosen} />
      <div class="home-cards">
        <StartForm onStart={onChosen} />
        <JoinForm onJoin={onChosen} />
      </div>
      <Button class="quiet" label={t('discard')} onClick={() => void deleteShared(id).then(goHome)} />
    </div>
  );
}

type SharedContent = { id: string; text: string; files: File[] };

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
async function readShared(id?: string): Promise<SharedContent> {
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
  const all = ['title', 'text', 'url'].map((field) => String(form.get(field) ?? '').trim());
  // Apps often repeat the URL in the text.
  const fields = [...new Set(all)];
  const lines = fields.filter((line) => !fields.some((other) => other !== line && other.includes(line)));
  const files = form.getAll('files').filter((entry) => entry instanceof File);
  return { text: lines.join('\n'), files };
}

async function deleteShared(id: string): Promise<void> {
  if (!('caches' in window)) return;
  const cache = await caches.open(shareCache);
  await cache.delete(id);
  await pendingIn(cache);
}
