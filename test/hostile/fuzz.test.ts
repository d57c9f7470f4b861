/** Many generated requests: valid, nearly valid and invalid. Every response must match the OpenAPI document. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { storedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, startProcess } from '../support/process.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { Draft } from './fuzz/draft.ts';
import { createJudge } from './fuzz/judge.ts';
import { nearlyValidRequest } from './fuzz/nearly-valid.ts';
import { type Operation, operationsOf } from './fuzz/operations.ts';
import { openRooms } from './fuzz/rooms.ts';
import { createSender } from './fuzz/sender.ts';
import { createTally } from './fuzz/tally.ts';
import { validRequest } from './fuzz/valid-requests.ts';
import { wildRequest } from './fuzz/wild-requests.ts';
import { isLongForm } from './long-form.ts';
import { type Memory, openMemory, withInspector } from './memory.ts';

const batch = 1000;
const batches = isLongForm ? 200 : 20;
/** After so many batches, all code is loaded. */
const warmUp = 2;
/** MiB, for what is compiled later and for the thousands of rooms that the requests make. */
const mostGrowth = isLongForm ? { heap: 4, whole: 32 } : { heap: 2, whole: 16 };
const patience = { timeout: isLongForm ? 3_600_000 : 300_000 };

/** The limits are on, so that their headers are there, and too high to be met. */
const settings = {
  POPROOM_FREE_LIMIT: '100000000',
  POPROOM_MISS_LIMIT: '0',
  POPROOM_TRUSTED_PROXIES: '127.0.0.1',
  ...withInspector,
};

describe('requests generated from the OpenAPI document', patience, () => {
  it(
    '[API-11] [ERR-1] [ERR-6] [UP-6] [RUN-7] receive a response that it describes, and leave nothing behind',
    patience,
    async (t) => {
      const folder = await dataFolder(t);
      const server = await startProcess(t, folder, settings);
      const [memory, operations, rooms] = [
        await openMemory(t, server),
        await operationsOf(server.url),
        await openRooms(server),
      ];
      const names = await readdir(folder);
      const tally = createTally(operations);
      const judge = createJudge(operations);
      const send = createSender(t, { port: server.port, rooms, judge, note: tally.note });
      const random = seededRandom(t);
      const any = anyRequest(operations);

      async function sendBatches(count: number): Promise<void> {
        for (let n = 0; n < count; n++) {
          await send(fc.sample(any, { seed: random.number(2 ** 31), numRuns: batch }));
          await rooms.refill();
        }
      }

      await sendBatches(warmUp);
      const atRest = await memory();
      await sendBatches(batches - warmUp);
      // What was answered last is let go of a moment later.
      const isBack = async () => {
        const now = await memory();
        t.diagnostic(`at rest ${told(atRest)}, after ${told(now)}`);
        return now.heap - atRest.heap < mostGrowth.heap && now.whole - atRest.whole < mostGrowth.whole;
      };
      await eventually(`it is back at rest, but for ${told(mostGrowth)}`, isBack, 30_000);
      t.diagnostic(`answers: ${tally.told()}`);
      tally.assertAllMet();

      await rooms.removeAll();
      await eventually('no bytes are left', async () => (await storedBlobs(folder)).length === 0);
      assert.deepEqual(await readdir(folder), names);
      assert.doesNotMatch(server.output(), /"level":[56]0/, 'nothing is logged as an error');
      assert.equal((await server.api.get('/api/health')).status, 200);
    },
  );
});

const told = ({ heap, whole }: Memory) => `${heap.toFixed(1)} MiB of heap, ${whole.toFixed(0)} MiB in all`;

/** Of any operation, and more often of those that take more; one in four is right, and one in four wild. */
function anyRequest(operations: readonly Operation[]): fc.Arbitrary<Draft> {
  const each = (draw: (operation: Operation) => fc.Arbitrary<Draft>) =>
    fc.oneof(...operations.map((operation) => ({ weight: interestOf(operation), arbitrary: draw(operation) })));
  return fc.oneof(
    { weight: 1, arbitrary: each(validRequest) },
    { weight: 2, arbitrary: each(nearlyValidRequest) },
    { weight: 1, arbitrary: each(wildRequest) },
  );
}

const interestOf = ({ parameters, bodySchema, takesFile }: Operation) =>
  1 + parameters.length + (bodySchema || takesFile ? 4 : 0);
