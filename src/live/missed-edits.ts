/** The edits that a reconnecting client has missed, read from the stored log and sent in parts. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { TokenBucket } from '../core/defence/token-bucket.ts';
import type { WorkBudget } from '../core/defence/work.ts';
import type { CoreDeps } from '../core/deps.ts';
import { PoproomError } from '../core/errors.ts';
import type { JoinRequest } from '../core/live-gateway.ts';
import type { TextEntry } from '../core/ports/texts.ts';
import type { Texts } from '../core/text/texts.ts';
import { toTimestamp } from '../core/timestamp.ts';
import type { RoomFeed } from './room-feed.ts';
import { editOf, type RoomView } from './room-view.ts';
import { outgoing, sendBudget, type Wire } from './wire.ts';

/** Takes a few milliseconds to read and to send. */
const entriesPerPart = 500;
/** In bytes. A client gets the next part when it has read the last one. */
const maxBacklog = 64 * 1024;
const checkBacklogMs = 20;

export interface MissedEdits {
  /** The number of edits that were sent already. */
  sent: number;
  /** The version that they lead to. */
  reached: number;
  /** The edits after that version. */
  rest: readonly TextEntry[];
}

export interface MissedDeps extends Pick<CoreDeps, 'texts' | 'clock'> {
  work: WorkBudget;
  replacedSince: Texts['replacedSince'];
  /** How long a client may take to read one part. */
  slowForMs: number;
}

type ReadEdits = (since: number, limit: number) => Promise<readonly TextEntry[] | undefined>;

/** Undefined if the log does not lead from the client's version to the current one. */
export async function sendMissed(
  deps: MissedDeps,
  feed: RoomFeed,
  wire: Wire,
  { version, timestamp, seq = 0, caller: { client } }: JoinRequest,
): Promise<MissedEdits | undefined> {
  if (version === undefined) return undefined;
  const read: ReadEdits = async (since, limit) => {
    const found = await deps.work.measure(client, () => deps.texts.readEdits(feed.code, since, limit, deps.clock()));
    if (found === 'no-log') return deps.replacedSince(feed.code, since);
    return typeof found === 'string' ? undefined : found;
  };
  const budget = new TokenBucket(sendBudget);
  const send = (entries: readonly TextEntry[]) => {
    for (const entry of entries) {
      const message = outgoing(editOf(entry, seq));
      budget.spend(message.bytes, performance.now());
      wire.send(message);
    }
  };
  const isSame = (writtenAt: number) => timestamp === undefined || timestamp === toTimestamp(writtenAt);
  const { text } = feed.view;
  if (version === text.version && isSame(text.writtenAt)) return { sent: 0, reached: version, rest: [] };

  let sent = 0;
  let rest = await firstPart(read, version, isSame);
  for (;;) {
    const reached = version + sent;
    if (!rest || !feed.view.text.canFollow(rest)) return undefined;
    if (rest.length === 0 || reached + rest.length >= feed.view.text.version) return { sent, reached, rest };
    const part = rest;
    deps.work.measure(client, () => send(part));
    sent += part.length;
    await drain(wire, deps.slowForMs);
    while (budget.isEmpty(performance.now())) await setTimeout(checkBacklogMs);
    rest = await read(version + sent, entriesPerPart);
  }
}

/** Starts with the entry of the client's version: a server that lost its newest changes assigns versions again. */
async function firstPart(
  read: ReadEdits,
  version: number,
  isSame: (writtenAt: number) => boolean,
): Promise<readonly TextEntry[] | undefined> {
  if (version === 0) return read(0, entriesPerPart);
  const [own, ...newer] = (await read(version - 1, entriesPerPart + 1)) ?? [];
  if (own) return isSame(own.writtenAt) ? newer : undefined;
  // The log of a replaced text starts after it. The lengths and checksums of the edits show if the client has another.
  const later = await read(version, entriesPerPart);
  return later?.length ? later : undefined;
}

async function drain(wire: Wire, withinMs: number): Promise<void> {
  await setImmediate();
  for (let waited = 0; wire.backlog() > maxBacklog; waited += checkBacklogMs) {
    if (waited > withinMs)
      throw new PoproomError('RATE_LIMITED', 'The client reads too slowly.', { details: { reason: 'messages' } });
    await setTimeout(checkBacklogMs);
  }
}

/** The edits up to the current view, which may have changed while the log was read. */
export function upTo({ text }: RoomView, { reached, rest }: MissedEdits): readonly TextEntry[] | undefined {
  const last = reached + rest.length;
  if (last >= text.version) return rest.slice(0, Math.max(0, text.version - reached));
  const newer = text.since(last);
  return newer && [...rest, ...newer];
}
