/** Sends requests over persistent connections, many concurrently, and checks every response. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Connection, openConnection } from '../connection.ts';
import { type Draft, pathOf, toBytes } from './draft.ts';
import type { ResponseCheck } from './judge.ts';
import type { Operation } from './operations.ts';
import type { Rooms } from './rooms.ts';

const connections = 32;

/** Statuses for an invalid request. Others may result from concurrent changes of the room. */
const invalidStatuses = [400, 401, 403, 405, 415];

export interface SenderOptions {
  port: number;
  rooms: Rooms;
  checkResponse: ResponseCheck;
  /** Called after every correct response. */
  onResponse: (operation: Operation | undefined, status: number) => void;
}

export function createSender(t: TestContext, { port, rooms, checkResponse, onResponse }: SenderOptions) {
  const open = Array.from({ length: connections }, () => openConnection(t, port));

  async function send(draft: Draft, connection: Connection): Promise<void> {
    const place = rooms.placeOf(draft);
    const bytes = toBytes(draft, place);
    try {
      const response = await connection.send(bytes, draft.method === 'HEAD');
      const operation = await checkResponse(draft.method, pathOf(draft, place), response);
      if (draft.about === 'valid')
        assert.ok(!invalidStatuses.includes(response.status), `${response.status} ${response.body}`);
      onResponse(operation, response.status);
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
