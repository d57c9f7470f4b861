/**
 * Edits that the server has not confirmed, stored so that they survive a reload. Each tab stores its own. The text of a
 * plain room is stored for the tab only: on the device, it would outlast a room that was deleted.
 */
import type { SavedText } from '../../../src/client/text/shared-text.ts';
import { draftKeys } from '../device/recent-rooms.ts';
import { isRecord, isString, localStore, sessionStore } from '../device/storage.ts';

/** Seals the drafts of an encrypted room. */
export interface DraftCipher {
  /** Undefined if the keys are not known yet. */
  sealDraft(saved: SavedText): string | undefined;
  /** Undefined if the keys are not known yet, or the draft was sealed with others. */
  openDraft(sealed: string): SavedText | undefined;
}

export interface Draft {
  /** The edits that were stored before this page was loaded. */
  readonly saved: SavedText | undefined;
  /** Undefined removes the draft. */
  save(saved: SavedText | undefined): void;
}

/**
 * Claims the draft of this tab from before its reload, or else the first one of a closed tab, and after it those of other
 * closed tabs. Each draft is claimed once and belongs to this tab from then on. Call it only after the text that saved a
 * draft in this tab is closed. `cipher` returns that of an encrypted room.
 */
export async function claimDrafts(code: string, cipher: () => DraftCipher | undefined): Promise<Draft[]> {
  const claimed = await claim(code, (key) => {
    // Sealed drafts are claimed when the room is joined.
    if (localStore.get(key, isSealed)) return undefined;
    const saved = localStore.get(key, isSavedText);
    localStore.set(key, undefined);
    return saved && withTabText(saved, code);
  });
  // Another tab may have claimed the draft of one of them.
  for (const key of tabTextKeys(code)) sessionStore.set(key, undefined);
  return [claimed[0], ...claimed.slice(1)].map((saved, i) => draft(ownKey(code, i), saved, cipher));
}

/** Claims sealed drafts. Those that do not open stay. Call it before the user can edit the text. */
export async function claimSealedDrafts(code: string, cipher: DraftCipher): Promise<Draft[]> {
  const claimed = await claim(code, (key) => {
    const { sealed } = localStore.get(key, isSealed) ?? {};
    const saved = sealed && cipher.openDraft(sealed);
    if (saved) localStore.set(key, undefined);
    return saved || undefined;
  });
  // The first key is that of the text itself.
  return claimed.map((saved, i) => draft(ownKey(code, i + 1), saved, () => cipher));
}

/** The sealed drafts of a room, which stay as they are. */
export const sealedDraftsOf = (code: string): string[] =>
  draftKeys(code).flatMap((key) => localStore.get(key, isSealed)?.sealed ?? []);

/** Drafts of this tab come first. `take` returns a draft and removes it. */
async function claim(code: string, take: (key: string) => SavedText | undefined): Promise<SavedText[]> {
  const claimed: SavedText[] = [];
  const isOwn = (key: string) => [tab, previousTab].includes(tabIn(key));
  const keys = draftKeys(code).sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
  for (const key of keys) {
    await runIfTabClosed(tabIn(key), () => {
      const saved = take(key);
      if (saved) claimed.push(saved);
    });
  }
  return claimed;
}

const ownKey = (code: string, index: number): string => `draft:${index === 0 ? tab : `${tab}.${index}`}:${code}`;
export const tabIn = (key: string): string => /^draft:(\w+)/.exec(key)?.[1] ?? '';

/** Stores a claimed draft under its new key. */
function draft(key: string, saved: SavedText | undefined, cipher: () => DraftCipher | undefined): Draft {
  let isStored = false;
  function save(current: SavedText | undefined): void {
    if (current || isStored) store(key, current, cipher());
    isStored = current !== undefined;
  }
  save(saved);
  return { saved, save };
}

/** The text of an encrypted room is never stored as plaintext, that of another room only for this tab. */
function store(key: string, saved: SavedText | undefined, cipher: DraftCipher | undefined): void {
  const sealed = saved && cipher?.sealDraft(saved);
  const plain = cipher ? undefined : saved;
  localStore.set(key, sealed ? { sealed } : plain && withoutText(plain));
  sessionStore.set(key, plain?.content === undefined ? undefined : tabTextOf(plain));
}

/** Earlier versions of the page stored the text without its length. */
const withoutText = ({ content, ...edits }: SavedText): SavedText => ({
  ...edits,
  length: content?.length ?? edits.length,
});

type TabText = Pick<SavedText, 'version' | 'timestamp' | 'content'>;

const tabTextOf = ({ version, timestamp, content }: SavedText): TabText => ({ version, timestamp, content });

export const tabTextKeys = (code: string): string[] =>
  sessionStore.keys().filter((key) => key.startsWith('draft:') && key.endsWith(`:${code}`));

/** Adds the text that this tab stored before its reload, if it is the one that the edits are based on. */
function withTabText(saved: SavedText, code: string): SavedText {
  if (saved.content !== undefined) return saved;
  const texts = tabTextKeys(code).map((key) => sessionStore.get(key, isTabText));
  const isBase = (text: TabText | undefined) =>
    text?.version === saved.version && text.timestamp === saved.timestamp && text.content?.length === saved.length;
  return { ...saved, content: texts.find(isBase)?.content };
}

const isTabText = (value: unknown): value is TabText => isRecord(value) && isString(value.content);

const isSealed = (value: unknown): value is { sealed: string } => isRecord(value) && isString(value.sealed);

export function isSavedText(value: unknown): value is SavedText {
  if (!isRecord(value)) return false;
  const { version, timestamp, length, content, deviceId, sent, buffer = [] } = value;
  const isLengthKnown = content === undefined ? Number.isInteger(length) : isString(content);
  const isSent = sent === undefined || (isRecord(sent) && isString(sent.ref) && isEditList(sent.edits));
  const isBaseKnown = Number.isInteger(version) && isString(timestamp) && isLengthKnown;
  return isBaseKnown && isString(deviceId) && isSent && isEditList(buffer);
}

const isEditList = (value: unknown): boolean => Array.isArray(value) && value.every(isEdit);
const isEdit = (value: unknown): boolean =>
  isRecord(value) && Number.isInteger(value.from) && Number.isInteger(value.to) && isString(value.insert);

/** New for each page load: a duplicated tab starts with a copy of the first one's session storage. */
const tab = String(Math.random()).slice(2);
/** The id that this tab had before its last reload. */
const previousTab = sessionStore.get('tab', isString);
sessionStore.set('tab', tab);

const lockOf = (id: string): string => `poproom:tab:${id}`;

/** The Web Locks API needs HTTPS. Without it, tabs ask each other over a BroadcastChannel. */
const channel = 'locks' in navigator ? undefined : listenForTabs();
if (!channel) void navigator.locks.request(lockOf(tab), () => new Promise(() => undefined));

/**
 * Runs the action if the id is that of this tab or of a closed one. Does nothing if that tab is open, even when it is
 * suspended in the background. Tabs that call this for the same id run one after the other.
 */
export async function runIfTabClosed<T>(id: string, action: () => T): Promise<T | undefined> {
  if (id === tab) return action();
  if (channel) return (await isAnswered(channel, id)) ? undefined : action();
  // A reload may start the new page before the browser has released the lock of the old one.
  const options = id === previousTab ? { signal: AbortSignal.timeout(1_000) } : { ifAvailable: true };
  return navigator.locks.request(lockOf(id), options, (lock) => (lock ? action() : undefined)).catch(() => undefined);
}

function listenForTabs(): BroadcastChannel {
  const channel = new BroadcastChannel('poproom:tabs');
  channel.addEventListener('message', ({ data }) => {
    if (data.isOpen === tab) channel.postMessage({ open: tab });
  });
  return channel;
}

function isAnswered(channel: BroadcastChannel, id: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onMessage = ({ data }: MessageEvent) => {
    if (data.open === id) resolve(true);
  };
  channel.addEventListener('message', onMessage);
  channel.postMessage({ isOpen: id });
  setTimeout(() => resolve(false), 300);
  return promise.finally(() => channel.removeEventListener('message', onMessage));
}
