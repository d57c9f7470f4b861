/**
 * Time limits for commands. One timer checks all of them, because a timer per command would cost more than the command.
 * When the oldest times out, further ones fail immediately, until Redis responds again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PoproomError } from '../core/errors.ts';

const pollEveryMs = 200;
/**
 * A command times out after this many polls. Counting polls instead of time means that a stall of this process does not
 * look like a missing response: between two polls, responses are read.
 */
const pollsPerTimeout = 6;
const maxWaiting = 10_000;

interface Waiting {
  /** The number of polls when it started. */
  since: number;
  giveUp: (error: PoproomError) => void;
}

interface HealthCheck {
  /** Checks whether Redis responds. */
  probe: () => Promise<unknown>;
  /** Whether an error is a response of Redis. */
  isAnswer: (error: unknown) => boolean;
  /** Called when Redis responds again after a command without a response, whose outcome is unknown. */
  recovered: () => void;
}

export function createDeadlines({ probe, isAnswer, recovered }: HealthCheck) {
  /** Oldest first. */
  const waiting = new Set<Waiting>();
  let polls = 0;
  let isHanging = false;
  /** Whether a command had no response and Redis has not responded since. */
  let isUnresponsive = false;
  let probing = false;

  function poll(): void {
    polls += 1;
    for (const one of waiting) {
      if (polls - one.since <= pollsPerTimeout) break;
      isHanging = true;
      isUnresponsive = true;
      waiting.delete(one);
      one.giveUp(noResponse());
    }
    if (isUnresponsive && !probing) void ask();
  }

  async function ask(): Promise<void> {
    probing = true;
    try {
      await probe();
      isHanging = false;
      isUnresponsive = false;
      recovered();
    } catch {}
    probing = false;
  }

  const timer = setInterval(poll, pollEveryMs).unref();

  return {
    within<T>(work: () => Promise<T>): Promise<T> {
      if (isHanging || waiting.size >= maxWaiting) return Promise.reject(noResponse());
      return new Promise((resolve, reject) => {
        const one = { since: polls, giveUp: reject };
        waiting.add(one);
        work().then(
          (answer) => {
            waiting.delete(one);
            resolve(answer);
          },
          (error) => {
            waiting.delete(one);
            if (!isAnswer(error)) isUnresponsive = true;
            reject(error);
          },
        );
      });
    },

    /** The number of running commands. */
    running: () => waiting.size,

    /** Waits for running commands, but not for long. */
    async finish(): Promise<void> {
      const since = polls;
      // Some operations send several commands, so wait until nothing has been running for a moment.
      for (let quiet = 0; quiet < 3 && polls - since <= pollsPerTimeout; quiet = waiting.size > 0 ? 0 : quiet + 1) {
        await pause(1);
      }
      clearInterval(timer);
    },
  };
}

export function noResponse(cause?: unknown): PoproomError {
  const message = 'The store does not respond. Try again in 2 seconds.';
  return new PoproomError('UNAVAILABLE', message, { retryAfter: 2, cause });
}
