/** The text of a room as it changes. */
import { type Ended, type LiveEvent, type LiveRoom, PoproomError, type RoomText } from '../../client/index.ts';
import { remark } from '../output.ts';

/** Answers `enough` when it is. */
export type Take = (text: RoomText, isFirst: boolean) => unknown;

/** Hands on the text that stands and each that follows, through interruptions, until the room is over or it is enough. */
export async function followText(live: LiveRoom, take: Take): Promise<Ended> {
  const events = live[Symbol.asyncIterator]();
  let last: RoomText | undefined;
  let isWaiting = false;
  try {
    for (;;) {
      const { done, value } = await events.next();
      if (done) return value;
      // Who was never inside is not kept waiting: a wrong address would look like a room without changes.
      if (value.type === 'waiting' && !last) throw value.error;
      isWaiting = tellHowItIs(value, isWaiting);
      const text = textIn(value);
      // They come in order: a version that is lower is that of a server which has lost the newest.
      if (!text || isSame(text, last)) continue;
      const isFirst = last === undefined;
      last = text;
      if (take(text, isFirst) === 'enough') return 'left';
    }
  } catch (error) {
    return wentWhileAway(error, last !== undefined);
  } finally {
    await events.return('left');
  }
}

/** Tells the person about the connection, and answers whether it is waited for. */
function tellHowItIs({ type }: LiveEvent, isWaiting: boolean): boolean {
  if (type === 'waiting' && !isWaiting) remark('The connection is lost; it is tried again until it is back.');
  if (type === 'connected' && isWaiting) remark('Connected again.');
  return type === 'waiting' || (isWaiting && type !== 'connected');
}

function textIn(event: LiveEvent): RoomText | undefined {
  if (event.type === 'snapshot') return event.content;
  if (event.type !== 'content') return undefined;
  const { content, version, timestamp } = event;
  return { content, version, timestamp };
}

function isSame({ content, version }: RoomText, last: RoomText | undefined): boolean {
  return version === last?.version && content === last.content;
}

/** A room that was there and is not found any more went while the connection was lost. */
function wentWhileAway(error: unknown, wasInside: boolean): Ended {
  const code = wasInside && error instanceof PoproomError ? error.code : undefined;
  if (code === 'ROOM_NOT_FOUND') return 'deleted';
  if (code === 'ROOM_EXPIRED') return 'expired';
  throw error;
}

/** Who left knows it. */
export function remarkEnd(end: Ended): void {
  if (end !== 'left') remark(`${whyOver(end)}.`);
}

export function whyOver(end: Ended): string {
  return end === 'expired' ? 'The room has expired' : 'The room was deleted';
}
