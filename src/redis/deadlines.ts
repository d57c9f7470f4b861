/**
 * A time for every command. One timer looks after all of them: a timer each would cost more than the command. When the
 * oldest has waited too long, further ones are refused at once, until Redis gives a sign of life again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PoproomError } from '../core/errors.ts';

const answerWithinMs = 1_200;
const lookEveryMs = 200;
const mostWaiting = 10_000;

export interface Deadlines {
  within<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for what is under way, but not for long. */
  finish(): Promise<void>;
}

interface Waiting {
  since: number;
  giveUp: (error: PoproomError) => void;
}

export interface SignsOfLife {
  /** Asks for one. */
  probe: () => Promise<unknown>;
  /** Told when there is one again. */
  recovered: () => void;
}

export function createDeadlines({ probe, recovered }: SignsOfLife): Deadlines {
  /** Oldest first. */
  const waiting = new Set<Waiting>();
  let hangs = false;
  let probing = false;

  function look(): void {
    const overdue = performance.now() - answerWithinMs;
    for (const one of waiting) {
      if (one.since > overdue) break;
      hangs = true;
      waiting.delete(one);
      one.giveUp(hanging());
    }
    if (hangs && !probing) void ask();
  }

  async function ask(): Promise<void> {
    probing = true;
    try {
      await probe();
      hangs = false;
      recovered();
    } catch {}
    probing = false;
  }

  const timer = setInterval(look, lookEveryMs);
  timer.unref();

  return {
    async within<T>(work: () => Promise<T>): Promise<T> {
      if (hangs || waiting.size >= mostWaiting) throw hanging();
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const one = { since: performance.now(), giveUp: reject };
      waiting.add(one);
      work()
        .then(resolve, reject)
        .finally(() => waiting.delete(one));
      return promise;
    },
    async finish() {
      const deadline = performance.now() + answerWithinMs;
      // Some operations take several commands: quiet is what stays quiet for a moment.
      for (let quiet = 0; quiet < 3 && performance.now() < deadline; quiet = waiting.size > 0 ? 0 : quiet + 1) {
        await pause(1);
      }
      clearInterval(timer);
    },
  };
}

function hanging(): PoproomError {
  return new PoproomError('UNAVAILABLE', 'The store does not answer; try again in a moment.', { retryAfter: 2 });
}
