/** The keys of encrypted rooms: in this tab, and on this device if the user wants it. They never leave the device. */
import { signal } from '@preact/signals';
import type { LinkId, RoomCode } from '../../../src/protocol/room-code.ts';
import { parseCodeOrLink } from '../router.ts';
import { isRecord, isString, localStore, sessionStore } from './storage.ts';

export const savedKey = (code: string): string | undefined =>
  sessionStore.get(`new-key:${code}`, isString) ?? sessionStore.get(`key:${code}`, isString) ?? keptKey(code);

/** A key that has not opened the room yet. It does not replace the one that has: a server could say that it is wrong. */
export const saveNewKey = (code: string, key: string | undefined): void => sessionStore.set(`new-key:${code}`, key);

/** The key that has opened the room. */
export function saveKey(code: string, key: string): void {
  sessionStore.set(`key:${code}`, key);
  saveNewKey(code, undefined);
}

/** The key that stays when the tab is closed: of a room that was started here, or that the user has asked to keep. */
export function keptKey(code: string): string | undefined {
  // Views that show it follow its changes.
  void changes.value;
  return localStore.get(`kept-key:${code}`, isString);
}

export function keepKey(code: string, key: string | undefined): void {
  localStore.set(`kept-key:${code}`, key);
  changes.value += 1;
}

const changes = signal(0);

/** The key in the link of a room, or the keys in a link with a role. Half a key counts as a damaged one. */
export const keyIn = (link: string): string | undefined => /\/r\/[^#\s]+#([\w.-]{8,})/.exec(link)?.[1];

/** The room in a code or a link that the user has entered. The tab tries the key in the link. */
export function takeRoom(text: string): RoomCode | LinkId | undefined {
  const [code, key] = [parseCodeOrLink(text), keyIn(text)];
  if (code && key) saveNewKey(code, key);
  return code;
}

/** Moves the key from the address bar into the storage of this tab. */
export function takeKeyFromAddress(code: string): string | undefined {
  const key = keyIn(location.href);
  if (key === undefined) return undefined;
  history.replaceState(null, '', location.pathname);
  saveNewKey(code, key);
  return key;
}

const channelName = 'poproom:keys';
/** A tab in the background may need a moment. */
const timeoutMs = 1_000;

/** Answers other tabs while the room is open here. */
export function offerKey(code: string, key: string, signal: AbortSignal): void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }) => {
    if (isRecord(data) && data.wanted === code) channel.postMessage({ code, key });
  };
  signal.addEventListener('abort', () => channel.close());
}

/** Undefined if no other tab has the room open. */
export function requestKey(code: string): Promise<string | undefined> {
  const channel = new BroadcastChannel(channelName);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  channel.onmessage = ({ data }) => {
    if (isRecord(data) && data.code === code && isString(data.key)) resolve(data.key);
  };
  channel.postMessage({ wanted: code });
  setTimeout(() => resolve(undefined), timeoutMs);
  return promise.finally(() => channel.close());
}
