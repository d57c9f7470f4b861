/** The keys of encrypted rooms: in this tab, and on this device if the user wants it. They never leave the device. */
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { parseCodeOrLink } from '../router.ts';
import { isString, localStore, sessionStore } from './storage.ts';

export const savedKey = (code: string): string | undefined =>
  sessionStore.get(`key:${code}`, isString) ?? keptKey(code);
export const saveKey = (code: string, key: string | undefined): void => sessionStore.set(`key:${code}`, key);

/** The key that the user has asked to keep when the tab is closed. */
export const keptKey = (code: string): string | undefined => localStore.get(`kept-key:${code}`, isString);
export const keepKey = (code: string, key: string | undefined): void => localStore.set(`kept-key:${code}`, key);

/** The key in the link of a room. */
export const keyIn = (link: string): string | undefined => /\/r\/[^#\s]+#([0-9a-z-]+)/i.exec(link)?.[1];

/** The room in a code or a link that the user has entered. The key in the link is saved for this tab. */
export function takeRoom(text: string): RoomCode | undefined {
  const [code, key] = [parseCodeOrLink(text), keyIn(text)];
  if (code && key) saveKey(code, key);
  return code;
}

/** Moves the key from the address bar into the storage of this tab. */
export function takeKeyFromAddress(code: string): string | undefined {
  const { hash, pathname } = location;
  // The link that skips the header is not a key. Everything else is one, if only a damaged one.
  if (hash === '' || hash === '#main') return undefined;
  history.replaceState(null, '', pathname);
  const key = hash.slice(1);
  saveKey(code, key);
  return key;
}
