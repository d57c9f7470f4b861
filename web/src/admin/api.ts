/** Requests to the admin API. The token is kept for this tab only, and sent only in a header. */
import { signal } from '@preact/signals';
import { PoproomError } from '../../../src/client/error.ts';
import type { Call } from '../../../src/client/transport.ts';
import type { ErrorBody } from '../../../src/protocol/types.ts';

const storageKey = 'poproom-admin-token';

/** Null while the operator is signed out. */
export const token = signal(sessionStorage.getItem(storageKey));
token.subscribe((value) => {
  if (value === null) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, value);
});

interface AdminCall extends Pick<Call, 'method' | 'json' | 'signal'> {
  /** The token, if it is not kept yet. */
  bearer?: string | null;
}

export async function call<T>(path: string, options: AdminCall = {}): Promise<T> {
  const { method = 'GET', json, signal, bearer = token.peek() } = options;
  const init: RequestInit = {
    method,
    headers: { Authorization: `Bearer ${bearer}`, ...(json !== undefined && { 'Content-Type': 'application/json' }) },
    body: json === undefined ? null : JSON.stringify(json),
    credentials: 'omit',
    signal: signal ?? null,
  };
  // Relative, so that it also works if the server has a path of its own.
  const response = await fetch(new URL(`api/admin/${path}`, location.href), init).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new PoproomError('OFFLINE', 'The server does not respond. Check your connection, and try again.');
  });
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  const { error } = (body as ErrorBody | undefined) ?? {};
  if (error) throw new PoproomError(error.code, error.message);
  throw new PoproomError('INVALID_RESPONSE', `The server sent an unexpected response (status ${response.status}).`);
}

/** Formats numbers, bytes and times of the admin page, which is in English. */
export const formatCount = (count: number): string => count.toLocaleString('en');

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = (bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1).replace(/\.0$/, '');
  return `${number} ${units[step]}`;
}

/** Such as "2 d 5 h" or "12 min". */
function formatDuration(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

export const formatAge = (timestamp: string): string => formatDuration(Date.now() - Date.parse(timestamp));
export const formatRest = (timestamp: string): string => formatDuration(Date.parse(timestamp) - Date.now());

const shortTime = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const longTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

export const formatShortTime = (timestamp: string): string => shortTime.format(new Date(timestamp));
export const formatTime = (timestamp: string): string => longTime.format(new Date(timestamp));
