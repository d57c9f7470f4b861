/** Decides who may use the page of `poproom ui`: one browser of this user, which has opened the link with the token. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { html } from '../http/page/page-files.ts';
import { queryOf } from '../http/request/request.ts';
import type { Reply } from '../http/response/reply.ts';

export type Access = ReturnType<typeof createAccess>;

/** The path that exchanges the token for the cookie. */
export const openingPath = '/open';

/** `startPath` is the path of the first view, below that of the page. */
export function createAccess(port: number, startPath: string) {
  // Browsers omit port 80.
  const { host, origin: ownOrigin } = new URL(`http://127.0.0.1:${port}`);
  const [basePath, token, session] = [`/${secret(16)}`, secret(32), secret(32)];
  // Browsers send cookies to all ports of a host.
  const cookieName = `poproom-ui-${port}`;
  let isTokenUsed = false;

  return {
    /** The path of the page. It is random, so that the cookie, which is limited to it, reaches no other port. */
    basePath,
    openingLink: `${ownOrigin}${openingPath}?token=${token}`,

    /** Whether the browser has reached this server by its address. A page of another host name would be DNS rebinding. */
    isOwnHost: ({ headers }: IncomingMessage) => headers.host === host,

    /** Answers the first request with the token with a cookie, and all others with undefined. */
    exchange({ method, url = '' }: IncomingMessage): Reply | undefined {
      if (method !== 'GET' || isTokenUsed || !isSame(queryOf(url).get('token') ?? '', token)) return undefined;
      isTokenUsed = true;
      return openingReply(basePath + startPath, {
        'Set-Cookie': `${cookieName}=${session}; Path=${basePath}/; HttpOnly; SameSite=Strict`,
      });
    },

    /** Whether the request has the cookie and is from the page itself. */
    isFromPage({ method = '', headers }: IncomingMessage): boolean {
      const { origin, cookie = '', upgrade, 'sec-fetch-site': site = 'same-origin' } = headers;
      // The user has typed the URL, or opened it from the history.
      const isOwnSite = site === 'same-origin' || site === 'none';
      // Browsers name the origin of every WebSocket and of every request that may change something.
      const namesOrigin = upgrade !== undefined || !['GET', 'HEAD'].includes(method);
      const isOwnOrigin = origin === ownOrigin || (origin === undefined && !namesOrigin);
      return isOwnSite && isOwnOrigin && isSame(cookieIn(cookie, cookieName), session);
    },
  };
}

const secret = (bytes: number) => randomBytes(bytes).toString('base64url');

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function cookieIn(header: string, name: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

/**
 * Not a redirect: after a click in another site, such as a terminal in the browser, it would be sent without the cookie.
 * Browsers replace a page that leaves immediately in their history, so that the token is not in it.
 */
function openingReply(to: string, headers: Record<string, string>): Reply {
  const { html: body } =
    html`<!doctype html><meta charset="utf-8"><title>Poproom</title><a href="${to}">Open Poproom</a>`;
  return {
    status: 200,
    headers: {
      ...headers,
      Refresh: `0; url=${to}`,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
    },
    body,
  };
}

/**
 * Whether a connection comes from a program of another user of this machine, who can see the token in the list of
 * processes while the browser starts. Only Linux tells; elsewhere the token alone decides.
 */
export function isOfOtherUser({ remotePort = 0, localPort = 0 }: Socket, connections = readConnections()): boolean {
  const [own, root] = [process.getuid?.(), 0];
  const line = new RegExp(`^ *\\d+: ${loopback}:${hex(remotePort)} ${loopback}:${hex(localPort)} .*`, 'm');
  const user = line.exec(connections)?.[0].trim().split(/ +/)[7];
  return user !== undefined && ![own, root].includes(Number(user));
}

/** 127.0.0.1 as the kernel writes it. */
const loopback = '0100007F';
const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

function readConnections(): string {
  if (process.platform !== 'linux') return '';
  try {
    return readFileSync('/proc/net/tcp', 'utf8');
  } catch {
    return '';
  }
}
