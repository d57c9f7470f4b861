/** The caret of this device, as others receive it. Loaded by the page only when others are in the room. */
import type { MoveCaret } from '../protocol/types.ts';
import { isWhole } from './shapes.ts';

/** A caret in the text of a version, or a selection. Positions count UTF-16 code units. */
export type Caret = Omit<MoveCaret, 'type'>;

const intervalMs = 200;

/** Sends at most five carets a second, and the last one always. */
export function limitCarets(send: (caret: Caret) => void): (caret: Caret) => void {
  let waiting: Caret | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function sendWaiting(): void {
    timer = undefined;
    if (!waiting) return;
    send(waiting);
    waiting = undefined;
    timer = setTimeout(sendWaiting, intervalMs);
  }

  return (caret) => {
    const { version, position, selectionEnd = 0 } = caret;
    if (![version, position, selectionEnd].every(isWhole))
      throw new TypeError('Versions and positions are whole numbers from 0.');
    waiting = caret;
    if (timer === undefined) sendWaiting();
  };
}
