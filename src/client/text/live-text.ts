/** A shared text with its own live channel. */
import type { LiveRoom } from '../live.ts';
import type { LiveOptions } from '../live-channel.ts';
import type { Ended } from '../live-event.ts';
import { createSharedText, type SharedTextOptions } from './create-shared-text.ts';
import type { SharedText } from './shared-text.ts';

export interface LiveTextOptions extends Omit<SharedTextOptions, 'deviceId'> {
  /** Leaves the room when it aborts, as `close()` does. */
  signal?: AbortSignal | undefined;
}

export interface LiveText extends SharedText {
  /** Resolves with the reason why the channel ended. Rejects if the room could not be joined. */
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
  // Avoids an unhandled rejection in programs that do not use `ended`.
  ended.catch(() => undefined);
  return Object.assign(text, { ended, close });
}

/** Runs the channel. The text receives its messages separately. */
async function follow(live: LiveRoom): Promise<Ended> {
  const events = live[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
  }
}
