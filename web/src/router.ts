/** Client-side routing: the current route, navigation, and room links. */
import { computed, type Signal, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { attempt } from '../../src/client/shapes.ts';
import { type LinkId, parseLinkId, parseRoomCode, parseRoomId, type RoomCode } from '../../src/protocol/room-code.ts';
import { listen } from './components/listen.ts';
import { toAsciiDigits } from './i18n/strings.ts';
import { basePath, baseUrl, metaContent } from './page-settings.ts';

export type Route =
  | { name: 'home' | 'share' | 'invite' | 'missing-page' | 'missing-file' }
  | { name: 'room'; code: RoomCode | undefined; typed: string }
  | { name: 'link'; id: LinkId };

/** Without the base path, which is missing already if a browser bypasses the proxy. */
const currentPath = (): string => location.pathname.replace(basePath, '') || '/';

const path = signal(currentPath());
addEventListener('popstate', () => {
  const to = currentPath();
  // Within the same view, Back closes the file viewer.
  if (guards.length === 0 || to === path.value) {
    path.value = to;
    return;
  }
  // The browser has changed the address already.
  history.pushState(null, '', basePath + path.value);
  navigate(to);
});

type Leave = () => void;

/** Of several, only the latest asks. */
let guards: readonly ((leave: Leave) => void)[] = [];

/**
 * Asks before the user leaves a view, closes the tab or reloads it. While it is needed, the signal has a function that
 * leaves, once the user wants to. Undefined closes the question.
 */
export function useLeaveQuestion(isNeeded: boolean): Signal<Leave | undefined> {
  const proceed = useSignal<Leave | undefined>(undefined);
  useEffect(() => {
    if (!isNeeded) return;
    const stop = listen('beforeunload', (event) => event.preventDefault());
    const ask = (leave: Leave) => (proceed.value = leave);
    guards = [...guards, ask];
    return () => {
      guards = guards.filter((guard) => guard !== ask);
      stop();
    };
  }, [isNeeded]);
  return proceed;
}

export const route = computed<Route>(() => {
  if (path.value === '/') return { name: 'home' };
  if (path.value === '/share') return { name: 'share' };
  if (path.value === '/invite') return { name: 'invite' };
  // The server sends the page instead of a file only if the file is missing or can be received only once.
  if (path.value.startsWith('/files/')) return { name: 'missing-file' };
  const typed = /^\/r\/([^/]+)\/?$/.exec(path.value)?.[1];
  if (typed === undefined) return { name: 'missing-page' };
  const decoded = decode(typed);
  const id = parseLinkId(decoded);
  return id ? { name: 'link', id } : { name: 'room', code: parseRoomCode(decoded), typed: decoded };
});

export function navigate(to: string): void {
  const ask = guards.at(-1);
  if (ask) ask(() => go(to));
  else go(to);
}

function go(to: string): void {
  if (to !== currentPath()) history.pushState(null, '', basePath + to);
  path.value = currentPath();
  scrollTo(0, 0);
}

/** The handler of a link. With a modifier key, the browser opens a tab or a window, or saves the target. */
export const onPlainClick = (act: () => void) => (event: MouseEvent) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  act();
};

export const goHome = (): void => navigate('/');
export const goToRoom = (code: string): void => navigate(`/r/${code}`);
/** The URL of the server for links. On the server's own machine, `baseUrl` may be one that others cannot reach. */
export const shareUrl = metaContent('address') || baseUrl;
/** Browsers do not send the key to the server. */
export const linkTo = (code: string, key?: string): string => `${shareUrl}/r/${code}${key ? `#${key}` : ''}`;

/** A file has the same base as its room, unless files have an origin of their own. */
export const linkToFile = ({ fileUrl }: { fileUrl: string }): string =>
  fileUrl.startsWith(`${baseUrl}/`) ? shareUrl + fileUrl.slice(baseUrl.length) : fileUrl;

/** The room code, or the id of a link with a role, in what the user typed or pasted: itself, or a link that contains it. */
export function parseCodeOrLink(text: string): RoomCode | LinkId | undefined {
  const linked = /\/r\/([^/?#\s]+)/.exec(text)?.[1];
  return parseRoomId(toAsciiDigits(decode(linked ?? text)).trim());
}

const decode = (text: string): string => attempt(() => decodeURIComponent(text)) ?? text;
