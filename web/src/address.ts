/** Where in the page we are. */
import { computed, signal } from '@preact/signals';
import { parseRoomCode, type RoomCode } from '../../src/protocol/room-code.ts';

export type Place = { at: 'home' } | { at: 'room'; code: RoomCode | undefined; typed: string } | { at: 'share' };

const path = signal(location.pathname);
addEventListener('popstate', () => {
  path.value = location.pathname;
});

export const place = computed<Place>(() => {
  if (path.value === '/share') return { at: 'share' };
  const typed = /^\/r\/([^/]+)\/?$/.exec(path.value)?.[1];
  if (typed === undefined) return { at: 'home' };
  const readable = decode(typed);
  return { at: 'room', code: parseRoomCode(readable), typed: readable };
});

export function go(to: string): void {
  if (to !== location.pathname) history.pushState(null, '', to);
  path.value = location.pathname;
  scrollTo(0, 0);
}

export const goHome = (): void => go('/');
export const goToRoom = (code: string): void => go(`/r/${code}`);
/** By which other devices reach this page: on the server itself, the browser's own address leads them nowhere. */
export const shareOrigin =
  document.querySelector<HTMLMetaElement>('meta[name="poproom-address"]')?.content || location.origin;
export const linkTo = (code: string): string => `${shareOrigin}/r/${code}`;

/** A code as it is typed or pasted: bare, or somewhere in a link. */
export function codeIn(text: string): RoomCode | undefined {
  const linked = /\/r\/([^/?#\s]+)/.exec(text)?.[1];
  return parseRoomCode(decode(linked ?? text).trim());
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
