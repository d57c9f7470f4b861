/** Requests to the admin API. The token is kept for this tab only, and sent only in a header. */
import type { ErrorBody } from '../../../src/protocol/types.ts';

const storageKey = 'poproom-admin-token';

export const storedToken = (): string | null => sessionStorage.getItem(storageKey);
export const storeToken = (token: string): void => sessionStorage.setItem(storageKey, token);
export const forgetToken = (): void => sessionStorage.removeItem(storageKey);

/** An error that the page shows. */
export class AdminError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface AdminCall {
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
    throw new AdminError('OFFLINE', 'The server does not respond. Check your connection, and try again.');
  });
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  const { code, message } = (body as ErrorBody | undefined)?.error ?? unexpected(response.status);
  throw new AdminError(code, message);
}

function headersFor(json: object | undefined): Record<string, string> {
  const type = json ? { 'Content-Type': 'application/json' } : {};
  return { Authorization: `Bearer ${storedToken() ?? ''}`, ...type };
}

const unexpected = (status: number) => ({
  code: 'INVALID_RESPONSE',
  message: `The server sent an unexpected response (status ${status}).`,
});
