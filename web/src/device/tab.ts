/** This tab of the browser, and what others left that are closed. */
import { isText, passing } from './storage.ts';

/** A new one for each load: a duplicated tab starts with everything that the first one remembers. */
export const tab = String(Math.random()).slice(2);
/** The one that this tab had before it was reloaded. */
const previousTab = passing.get('tab', isText);
passing.set('tab', tab);

/** Pages over plain HTTP have no locks; there the tabs ask each other. */
const channel = 'locks' in navigator ? undefined : listenForTabs();
if (!channel) void navigator.locks.request(lockOf(tab), () => new Promise(() => undefined));

export const isPrevious = (id: string): boolean => id === previousTab;

/**
 * Does something for this tab, or for one that is closed; for another that is open, also asleep in the background,
 * nothing. Of several tabs that do so for the same one, each waits for the one before.
 */
export async function unlessOpen<T>(id: string, action: () => T): Promise<T | undefined> {
  if (id === tab) return action();
  if (channel) return (await isAnswered(channel, id)) ? undefined : action();
  // A reload may start the new page before the browser has released the lock of the old one.
  const options = isPrevious(id) ? { signal: AbortSignal.timeout(1_000) } : { ifAvailable: true };
  return navigator.locks.request(lockOf(id), options, (lock) => (lock ? action() : undefined)).catch(() => undefined);
}

function lockOf(id: string): string {
  return `poproom:tab:${id}`;
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
  const listen = ({ data }: MessageEvent) => {
    if (data.open === id) resolve(true);
  };
  channel.addEventListener('message', listen);
  channel.postMessage({ isOpen: id });
  setTimeout(() => resolve(false), 300);
  return promise.finally(() => channel.removeEventListener('message', listen));
}
