/** The connection to the server that served this page, its clock, and the requests that this device has left. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { PoproomError } from '../../src/client/error.ts';
import { createTransport, type RateLimit, rateLimitIn } from '../../src/client/transport.ts';
import type { RoomCode } from '../../src/protocol/room-code.ts';
import { keptAccess } from './device/preferences.ts';
import { basePath, baseUrl, forwardedTo } from './page-settings.ts';

export const transport = createTransport({
  url: baseUrl,
  apiKey: undefined,
  // Only a private server refuses requests for these reasons.
  withRetry: (attempt) =>
    attempt().catch(async (error) => {
      if (!/API_KEY|PASSWORD|SIGN/.test(error.code)) throw error;
      return (await import('./views/access.tsx')).retryWithAccess(error, attempt, transport);
    }),
});
Object.assign(transport.headers, keptAccess());

/**
 * Where the page loads a file from. `poproom ui` forwards it: the server must not be able to send another page instead.
 * `fileUrl` is for links that people copy.
 */
export const hrefOf = ({ fileUrl }: { fileUrl: string }): string =>
  forwardedTo ? `${baseUrl}/files/${/[0-9a-f]{32}\/[^/?#]+$/.exec(fileUrl)?.[0]}` : fileUrl;

/** The error of a failed request. Logs unexpected errors, so that bugs are not hidden. */
export function toPoproomError(error: unknown): PoproomError {
  if (error instanceof PoproomError) return error;
  console.error(error);
  return new PoproomError('INTERNAL', String(error));
}

const answers = new Map<RoomCode, Promise<PoproomError | undefined>>();

/**
 * Asks for an encrypted room without its key: the refusal has the salt. This is sent before the code that needs it is
 * loaded, and has nothing but the code. Undefined if the server sends the room.
 */
export async function askRoom(code: RoomCode): Promise<PoproomError | undefined> {
  const asked = answers.get(code) ?? transport.send(`/api/rooms/${code}`).then(() => undefined, toPoproomError);
  answers.set(code, asked);
  const answer = await asked;
  // The salt of a room never changes. Everything else may.
  if (answer?.code !== 'KEY_REQUIRED') answers.delete(code);
  return answer;
}

/** Milliseconds that this device's clock is ahead of the server's, by which rooms expire. */
export const clockOffset = signal(0);

/** Compares the clocks, by the headers of a response. */
export function measureClockOffset(headers: Headers | undefined): void {
  const ahead = Date.now() - Date.parse(headers?.get('Date') ?? '');
  // The Date header has whole seconds and the request takes time, so ignore small differences.
  if (Math.abs(ahead) > 5_000) clockOffset.value = ahead;
}

/** How many requests this device has left, as of the last response; undefined if the server has no limit. */
export const requestLimit = signal<RateLimit | undefined>(undefined);

/** When the device can send requests again; undefined while it can. Files need requests; the text needs none. */
export const limitedUntil: ReadonlySignal<number | undefined> = computed(() =>
  requestLimit.value?.remaining === 0 ? requestLimit.value.resetAt.getTime() : undefined,
);

/** Asks an endpoint that does not count towards the limit. Returns the headers of the response. */
export async function checkRequestLimit(): Promise<Headers | undefined> {
  const response = await fetch(`${basePath}/livez`, { method: 'HEAD' }).catch(() => undefined);
  if (response) requestLimit.value = rateLimitIn((name) => response.headers.get(name));
  return response?.headers;
}

/** The error of a failed request, which may be that the limit is reached. */
export function noteFailure(cause: unknown): PoproomError {
  const error = toPoproomError(cause);
  const { code, details, retryAfter = 0 } = error;
  if (code === 'RATE_LIMITED' && details.reason === 'requests')
    requestLimit.value = { limit: 0, remaining: 0, resetAt: new Date(Date.now() + retryAfter * 1000) };
  return error;
}
