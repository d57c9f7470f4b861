/** One exchange as bytes, for requests that no well-behaved client sends. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Answer, toAnswer } from './api.ts';
import { openWire, type WireAnswer } from './wire.ts';

/**
 * Sends bytes (a string has one a character) and returns all answers, once the server has closed the connection:
 * a well-formed request should say `Connection: close`.
 */
export async function exchange(t: TestContext, port: number, bytes: string | Uint8Array): Promise<Answer[]> {
  const wire = await openWire(t, port);
  void wire.send(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  await wire.closed();
  const answers: Answer[] = [];
  while (wire.pending() !== '') answers.push(likeFetch(await wire.answer()));
  return answers;
}

/** The same, where one answer is to come. */
export async function ask(t: TestContext, port: number, bytes: string | Uint8Array): Promise<Answer> {
  const answers = await exchange(t, port, bytes);
  assert.equal(answers.length, 1, `one answer comes to ${JSON.stringify(String(bytes).slice(0, 100))}`);
  return answers[0] as Answer;
}

/** A request without a body, of its lines as they are. */
export function lines(...of: string[]): string {
  return `${of.join('\r\n')}\r\n\r\n`;
}

/** What came over a wire, in the form that all other tests know. */
export function likeFetch({ status, headers, text }: WireAnswer): Answer {
  return toAnswer(status, new Headers(headers), text);
}
