/** A shared text with a live channel of its own. */
import type { Ended, LiveOptions, LiveRoom } from '../live.ts';
import { createSharedText, type SharedTextOptions } from './create-shared-text.ts';
import type { SharedText } from './shared-text.ts';

export interface LiveTextOptions extends Omit<SharedTextOptions, 'deviceId'> {
  /** Leaves the room, as `close()` does. */
  signal?: AbortSignal | undefined;
}

export interface LiveText extends SharedText {
  /** Why the text is not followed any more; rejects with why the room could not be joined. */
  readonly ended: Promise<Ended>;
}

export function createRoomText(
  openLive: (options: LiveOptions) => LiveRoom,
  deviceId: string | undefined,
  { signal, ...options }: LiveTextOptions,
): LiveText {
  const text = createSharedText({ ...options, deviceId });
  const leaving = new AbortController();
  const closeText = text.close;
  const close = () => {
    closeText();
    leaving.abort();
  };
  signal?.addEventListener('abort', close);
  if (signal?.aborted) close();

  const ended = follow(openLive({ text, signal: leaving.signal })).finally(() => {
    signal?.removeEventListener('abort', close);
    closeText();
  });
  // A program that does not ask for the end must not fail on it.
  ended.catch(() => undefined);
  return Object.assign(text, { ended, close });
}

/** The text takes what it needs from the channel; the events are only passed over. */
async function follow(live: LiveRoom): Promise<Ended> {
  const events = live[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
  }
}
