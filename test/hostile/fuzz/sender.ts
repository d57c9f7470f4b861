/** Sends requests over persistent connections, many concurrently, and checks every response. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Connection, openConnection } from '../connection.ts';
import { type Draft, pathOf, toBytes } from './draft.ts';
import type { Judge } from './judge.ts';
import type { Operation } from './operations.ts';
import type { Rooms } from './rooms.ts';

const connections = 32;

/** What says that the request itself is wrong; others may have changed or deleted its room meanwhile. */
const refusals = [400, 401, 403, 405, 415];

export interface SenderParts {
  port: number;
  rooms: Rooms;
  judge: Judge;
  /** Told of every answer that was right. */
  note: (operation: Operation | undefined, status: number) => void;
}

export function createSender(t: TestContext, { port, rooms, judge, note }: SenderParts) {
  const open = Array.from({ length: connections }, () => openConnection(t, port));

  async function send(draft: Draft, connection: Connection): Promise<void> {
    const place = rooms.placeOf(draft);
    const bytes = toBytes(draft, place);
    try {
      const answer = await connection.ask(bytes, draft.method === 'HEAD');
      const operation = await judge(draft.method, pathOf(draft, place), answer);
      if (draft.about === 'valid') assert.ok(!refusals.includes(answer.status), `${answer.status} ${answer.body}`);
      note(operation, answer.status);
    } catch (error) {
      throw new Error(`${draft.about}: ${bytes.toString('latin1', 0, 3000)}`, { cause: error });
    }
  }

  return async (drafts: Iterable<Draft>): Promise<void> => {
    const left = drafts[Symbol.iterator]();
    const work = async (connection: Connection) => {
      for (let next = left.next(); !next.done; next = left.next()) await send(next.value, connection);
    };
    await Promise.all(open.map(work));
  };
}
