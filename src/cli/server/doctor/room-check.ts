/** Uses a temporary room as clients do, to find out what a proxy blocks. Deletes the room at the end. */
import { createClient, PoproomError, type Room, type RoomInfo } from '../../../client/index.ts';
import type { Config } from '../../../config.ts';
import { formatBytes } from '../../counts.ts';
import { serverIdOf } from '../../server-choice.ts';
import { bad, type Finding, forCheck, ok, warning } from './finding.ts';

const timeoutMs = 8000;
/** Buffered events can only be recognized by their absence. */
const eventTimeoutMs = 4000;
/** More would take long, and proxies that limit bodies usually allow less. */
const maxTestBytes = 10 * 1024 ** 2;

interface RoomCheck {
  url: string;
  room: Room;
  config: Partial<Config>;
  headers: Record<string, string>;
}

export async function checkRoom(url: string, apiKey: string | undefined, config: Partial<Config>): Promise<Finding[]> {
  const client = createClient({ url, apiKey });
  try {
    // If the command is killed, the room expires soon.
    const room = await client.createRoom({ expiresIn: 60 });
    try {
      const headers: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
      const check: RoomCheck = { url, room, config, headers };
      const live = await Promise.all([checkSocket(check), checkEvents(check)]);
      // Afterwards, because the upload would delay the others on a slow connection.
      return [...live, ...(await checkFile(check))];
    } finally {
      await room.delete().catch(() => undefined);
    }
  } catch (error) {
    return [noRoomFinding(error)];
  }
}

function noRoomFinding(error: unknown): Finding {
  const { code, message } = error as PoproomError;
  const found = `Cannot create a room for the checks: ${message.replace(/\.$/, '')}.`;
  if (code === 'API_KEY_REQUIRED') return warning(found, 'Set POPROOM_API_KEY for this command.');
  if (code === 'RATE_LIMITED') return warning(found, 'Try again later, or set POPROOM_API_KEY for this command.');
  return bad(found, 'Check the log of the server.');
}

async function checkFile({ url, room, config }: RoomCheck): Promise<Finding[]> {
  const limit = await fileLimit(room);
  const size = Math.min(limit, maxTestBytes);
  // In parts, it would pass a proxy that accepts only small bodies. A stream is sent in one request.
  const stream = new Blob([new Uint8Array(size)]).stream();
  try {
    const { fileUrl } = await room.upload(stream, { name: 'poproom-doctor.bin' });
    return [
      forCheck('uploads', ok(`Files of ${formatBytes(size)} can be uploaded.`)),
      forCheck('links', await checkLink(url, fileUrl, config)),
    ];
  } catch (error) {
    const found = `A file of ${formatBytes(size)} cannot be uploaded: ${(error as Error).message}`;
    return [forCheck('uploads', bad(found, bodySizeFix(limit)))];
  }
}

/** An older server does not state its limit, which was 10 MiB. */
async function fileLimit(room: Room): Promise<number> {
  const { limits } = (await room.info()) as Partial<RoomInfo>;
  return limits?.fileBytes ?? maxTestBytes;
}

/** For the largest file, and the rest of its form. */
function bodySizeFix(limit: number): string {
  const megabytes = Math.floor(limit / 1024 ** 2) + 1;
  return `Allow bodies of ${megabytes} MB at the proxy; in nginx: client_max_body_size ${megabytes}m`;
}

/** The server builds links from its settings, or from the headers of the proxy. */
async function checkLink(url: string, link: string, { filesUrl, publicUrl }: Partial<Config>): Promise<Finding> {
  const base = link.replace(filesUrl === undefined ? /\/files\/[^/]+\/[^/]+$/ : /\/[^/]+\/[^/]+$/, '');
  const [expected, actual] = [filesUrl ?? publicUrl ?? url, base].map(serverIdOf);
  if (actual !== expected) {
    const fix = `Set POPROOM_PUBLIC_URL=${publicUrl ?? url} for the server, and restart it.`;
    return bad(`Links point to ${actual}, but clients use ${expected}.`, fix);
  }
  const response = await fetch(link, { method: 'HEAD', signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
  if (response?.ok) return ok(`Links point to ${actual} and work.`);
  const fix = 'Check POPROOM_PUBLIC_URL and DNS.';
  return warning(`Links point to ${actual}, which does not respond to this machine.`, fix);
}

async function checkSocket({ url, room, headers }: RoomCheck): Promise<Finding> {
  const address = `${url.replace(/^http/, 'ws')}/api/rooms/${room.code}/live`;
  // A Node extension: the standard has no headers.
  const socket = new WebSocket(address, { headers } as unknown as string[]);
  const { promise: opened, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeoutMs);
  socket.onopen = () => socket.send(JSON.stringify({ type: 'join' }));
  socket.onmessage = () => resolve(true);
  socket.onerror = () => resolve(false);
  socket.onclose = () => resolve(false);
  const isOpen = await opened;
  clearTimeout(timer);
  socket.close();
  if (isOpen) return forCheck('live', ok('The live channel (WebSocket) works.'));
  const fix = 'Forward the Upgrade and Connection headers at the proxy; see docs/operations.md.';
  return forCheck('live', bad('The live channel (WebSocket) is blocked: devices do not see changes.', fix));
}

async function checkEvents({ url, room, headers }: RoomCheck): Promise<Finding> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(eventTimeoutMs)]);
  try {
    const response = await fetch(`${url}/api/rooms/${room.code}/events`, { headers, signal, redirect: 'error' });
    const first = await response.body?.getReader().read();
    if (response.ok && first?.value) return forCheck('events', ok('Events (SSE) arrive without buffering.'));
    throw new PoproomError('UNAVAILABLE', 'no events');
  } catch {
    const fix = 'Disable buffering at the proxy; in nginx: proxy_buffering off';
    return forCheck('events', warning('Events (SSE) do not arrive, or are buffered.', fix));
  } finally {
    done.abort();
  }
}
