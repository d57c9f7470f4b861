/** Passes the key of an open room to another tab of this browser, so that it can invite a screen. */
import { isRecord, isString } from './storage.ts';

const channelName = 'poproom:keys';
/** A tab in the background may need a moment. */
const timeoutMs = 1_000;

/** Answers other tabs while the room is open here. */
export function offerKey(code: string, key: string, signal: AbortSignal): void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }) => {
    if (isRecord(data) && data.wanted === code) channel.postMessage({ code, key });
  };
  signal.addEventListener('abort', () => channel.close());
}

/** Undefined if no other tab has the room open. */
export function requestKey(code: string): Promise<string | undefined> {
  const channel = new BroadcastChannel(channelName);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  channel.onmessage = ({ data }) => {
    if (isRecord(data) && data.code === code && isString(data.key)) resolve(data.key);
  };
  channel.postMessage({ wanted: code });
  setTimeout(() => resolve(undefined), timeoutMs);
  return promise.finally(() => channel.close());
}
