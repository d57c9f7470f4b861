/** Identifies this browser tab and tells whether another tab is still open. */
import { isString, sessionStore } from './storage.ts';

/** New for each page load: a duplicated tab starts with a copy of the first one's session storage. */
export const tab = String(Math.random()).slice(2);
/** The id that this tab had before its last reload. */
const previousTab = sessionStore.get('tab', isString);
sessionStore.set('tab', tab);

const lockOf = (id: string): string => `poproom:tab:${id}`;

/** The Web Locks API needs HTTPS. Without it, tabs ask each other over a BroadcastChannel. */
const channel = 'locks' in navigator ? undefined : listenForTabs();
if (!channel) void navigator.locks.request(lockOf(tab), () => new Promise(() => undefined));

export const isPrevious = (id: string): boolean => id === previousTab;

/**
 * Runs the action if the id is that of this tab or of a closed one. Does nothing if that tab is open, even when it is
 * suspended in the background. Tabs that call this for the same id run one after the other.
 */
export async function runIfTabClosed<T>(id: string, action: () => T): Promise<T | undefined> {
  if (id === tab) return action();
  if (channel) return (await isAnswered(channel, id)) ? undefined : action();
  // A reload may start the new page before the browser has released the lock of the old one.
  const options = isPrevious(id) ? { signal: AbortSignal.timeout(1_000) } : { ifAvailable: true };
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
