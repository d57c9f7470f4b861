/**
 * A time for every command. One timer looks after all of them: a timer each would cost more than the command. When the
 * oldest has waited too long, further ones are refused at once, until Redis gives a sign of life again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PoproomError } from '../core/errors.ts';

const lookEveryMs = 200;
/**
 * A command is given up after so many looks. Between two of them answers are read, however long this process was busy
 * with something else: by the clock, what it has not come to read yet would count as unanswered.
 */
const looksPerAnswer = 6;
const mostWaiting = 10_000;

export interface Deadlines {
  within<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for what is under way, but not for long. */
  finish(): Promise<void>;
}

interface Waiting {
  /** How many looks there had been. */
  since: number;
  giveUp: (error: PoproomError) => void;
}

export interface SignsOfLife {
  /** Asks for one. */
  probe: () => Promise<unknown>;
  /** Whether a failure is an answer all the same. */
  isAnswer: (error: unknown) => boolean;
  /** Told when there is one again after a command had no answer: what became of that one is not known. */
  recovered: () => void;
}

export function createDeadlines({ probe, isAnswer, recovered }: SignsOfLife): Deadlines {
  /** Oldest first. */
  const waiting = new Set<Waiting>();
  let looks = 0;
  let hangs = false;
  /** Whether a command had no answer, for whatever reason, and there was no sign of life since. */
  let troubled = false;
  let probing = false;

  function look(): void {
    looks += 1;
    for (const one of waiting) {
      if (looks - one.since <= looksPerAnswer) break;
      hangs = true;
      troubled = true;
      waiting.delete(one);
      one.giveUp(hanging());
    }
    if (troubled && !probing) void ask();
  }

  async function ask(): Promise<void> {
    probing = true;
    try {
      await probe();
      hangs = false;
      troubled = false;
      recovered();
    } catch {}
    probing = false;
  }

  const timer = setInterval(look, lookEveryMs);
  timer.unref();

  return {
    within<T>(work: () => Promise<T>): Promise<T> {
      if (hangs || waiting.size >= mostWaiting) return Promise.reject(hanging());
      return new Promise((resolve, reject) => {
        const one = { since: looks, giveUp: reject };
        waiting.add(one);
        work().then(
          (answer) => {
            waiting.delete(one);
            resolve(answer);
          },
          (error) => {
            waiting.delete(one);
            if (!isAnswer(error)) troubled = true;
            reject(error);
          },
        );
      });
    },

    async finish() {
      const since = looks;
      // Some operations take several commands: quiet is what stays quiet for a moment.
      for (let quiet = 0; quiet < 3 && looks - since <= looksPerAnswer; quiet = waiting.size > 0 ? 0 : quiet + 1) {
        await pause(1);
      }
      clearInterval(timer);
    },
  };
}

function hanging(): PoproomError {
  return new PoproomError('UNAVAILABLE', 'The store does not answer; try again in a moment.', { retryAfter: 2 });
}
