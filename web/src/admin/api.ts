/** Requests to the admin API. The token is kept for this tab only, and sent only in a header. */
import { PoproomError } from '../../../src/client/error.ts';
import type { ErrorBody } from '../../../src/protocol/types.ts';

const storageKey = 'poproom-admin-token';

export const storedToken = (): string | null => sessionStorage.getItem(storageKey);
export const storeToken = (token: string): void => sessionStorage.setItem(storageKey, token);
export const forgetToken = (): void => sessionStorage.removeItem(storageKey);

interface AdminCall {
  method?: 'GET' | 'POST' | 'DELETE';
  json?: object;
  signal?: AbortSignal;
}

export async function call<T>(path: string, { method = 'GET', json, signal }: AdminCall = {}): Promise<T> {
  const init: RequestInit = { method, headers: headersFor(json), credentials: 'omit', signal: signal ?? null };
  if (json) init.body = JSON.stringify(json);
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

function headersFor(json: object | undefined): Record<string, string> {
  const type = json ? { 'Content-Type': 'application/json' } : {};
  return { Authorization: `Bearer ${storedToken() ?? ''}`, ...type };
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
