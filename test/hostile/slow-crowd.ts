/** Many slow clients, in their own process so that they do not delay the measurements. */
import { fork } from 'node:child_process';
import type { TestContext } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { fromRawResponse } from '../support/raw-http.ts';
import { parseResponse } from '../support/raw-socket.ts';

export interface Crowd {
  port: number;
  size: number;
  /** They begin in these ways in turn. */
  beginnings: readonly string[];
  /** Then each sends a letter every second, or nothing more at all. */
  then: 'drips' | 'is silent';
}

/** What their process tells: that all have begun, and of each that the server has ended, what it was answered. */
export type Told = 'all have begun' | { answered: string };

export interface SlowCrowd {
  /** How many the server has ended. */
  ended(): number;
  /** What each of those was answered, where that was a whole answer and no more. */
  answers(): (ApiResponse | undefined)[];
  leave(): void;
}

export async function openSlowCrowd(t: TestContext, crowd: Crowd): Promise<SlowCrowd> {
  const child = fork(new URL('./slow-crowd-process.ts', import.meta.url), { execArgv: [] });
  const leave = () => void child.kill('SIGKILL');
  t.after(leave);
  const answered: string[] = [];
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  child.on('message', (told: Told) => {
    if (told === 'all have begun') resolve();
    else answered.push(told.answered);
  });
  child.send(crowd);
  await begun;
  return { ended: () => answered.length, answers: () => answered.map(wholeAnswer), leave };
}

function wholeAnswer(text: string): ApiResponse | undefined {
  const bytes = Buffer.from(text, 'latin1');
  const parsed = parseResponse(bytes);
  return parsed?.length === bytes.length ? fromRawResponse(parsed.answer) : undefined;
}
