/** Uses a room as people do: what proxies get in the way of shows only then. The room is deleted at the end. */
import { createClient, PoproomError, type Room } from '../../../client/index.ts';
import type { Config } from '../../../config.ts';
import { largestFile } from '../../../protocol/largest-file.ts';
import { about, bad, type Finding, ok, warning } from './finding.ts';

const patienceMs = 8000;
/** Of events that are held back, nothing tells but that they do not come. */
const eventPatienceMs = 4000;

interface Trial {
  url: string;
  room: Room;
  config: Partial<Config>;
  headers: Record<string, string>;
}

export async function tryRoom(url: string, apiKey: string | undefined, config: Partial<Config>): Promise<Finding[]> {
  const client = createClient({ url, apiKey });
  try {
    // If this is killed in the middle, the room goes by itself.
    const room = await client.createRoom({ expiresIn: 60 });
    try {
      const headers: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
      const trial: Trial = { url, room, config, headers };
      const live = await Promise.all([trySocket(trial), tryEvents(trial)]);
      // Not beside them: on a slow line it would be they who wait.
      return [...live, ...(await tryFile(trial))];
    } finally {
      await room.delete().catch(() => undefined);
    }
  } catch (error) {
    return [noRoom(error)];
  }
}

function noRoom(error: unknown): Finding {
  const { code, message } = error as PoproomError;
  const what = `No room could be made to try it out: ${message.replace(/\.$/, '')}.`;
  if (code === 'API_KEY_REQUIRED') return warning(what, 'Set POPROOM_API_KEY for the doctor, too.');
  if (code === 'RATE_LIMITED') return warning(what, 'Wait, or set POPROOM_API_KEY for the doctor.');
  return bad(what, 'The log of the server says more.');
}

async function tryFile({ url, room, config }: Trial): Promise<Finding[]> {
  try {
    const { fileUrl } = await room.upload(new Uint8Array(largestFile), { name: 'poproom-doctor.bin' });
    return [
      about('uploads', ok('Files of 10 MiB get through.')),
      about('links', await aboutLink(url, fileUrl, config)),
    ];
  } catch (error) {
    const what = `A file of 10 MiB does not get through: ${(error as Error).message}`;
    return [about('uploads', bad(what, 'Let the proxy pass bodies of 11 MB: client_max_body_size 11m in nginx.'))];
  }
}

/** The server makes links of its settings, or of what the proxy says. */
async function aboutLink(url: string, link: string, { filesUrl, publicUrl }: Partial<Config>): Promise<Finding> {
  const [expected, made] = [new URL(filesUrl ?? publicUrl ?? url).origin, new URL(link).origin];
  if (made !== expected) {
    const mend = `Set POPROOM_PUBLIC_URL=${publicUrl ?? url} for the server, and restart it.`;
    return bad(`Links lead to ${made}, and people come by ${expected}.`, mend);
  }
  const answer = await fetch(link, { method: 'HEAD', signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);
  if (answer?.ok) return ok(`Links lead to ${made}, and work.`);
  return warning(`Links lead to ${made}, which does not answer from here.`, 'Look at POPROOM_PUBLIC_URL and at DNS.');
}

async function trySocket({ url, room, headers }: Trial): Promise<Finding> {
  const address = `${url.replace(/^http/, 'ws')}/api/rooms/${room.code}/live`;
  // Beyond the standard, as Node has it.
  const socket = new WebSocket(address, { headers } as unknown as string[]);
  const { promise: opened, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), patienceMs);
  socket.onopen = () => socket.send(JSON.stringify({ type: 'join' }));
  socket.onmessage = () => resolve(true);
  socket.onerror = () => resolve(false);
  socket.onclose = () => resolve(false);
  const isOpen = await opened;
  clearTimeout(timer);
  socket.close();
  if (isOpen) return about('live', ok('Live channels (WebSocket) get through.'));
  const mend = 'Let the proxy pass Upgrade and Connection on; docs/operations.md shows how.';
  return about('live', bad('Live channels (WebSocket) do not get through: devices do not see changes.', mend));
}

async function tryEvents({ url, room, headers }: Trial): Promise<Finding> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(eventPatienceMs)]);
  try {
    const answer = await fetch(`${url}/api/rooms/${room.code}/events`, { headers, signal, redirect: 'error' });
    const first = await answer.body?.getReader().read();
    if (answer.ok && first?.value) return about('events', ok('Events (SSE) come at once, unbuffered.'));
    throw new PoproomError('UNAVAILABLE', 'no events');
  } catch {
    const mend = 'Switch off buffering: proxy_buffering off in nginx.';
    return about('events', warning('Events (SSE) do not come at once.', mend));
  } finally {
    over.abort();
  }
}
