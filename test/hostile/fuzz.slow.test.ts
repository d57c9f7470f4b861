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
import { createResponseCheck } from './fuzz/judge.ts';
import { nearlyValidRequest, withSecondHost } from './fuzz/nearly-valid.ts';
import { type Operation, operationsOf } from './fuzz/operations.ts';
import { openRooms } from './fuzz/rooms.ts';
import { createSender } from './fuzz/sender.ts';
import { createResponseCounts } from './fuzz/tally.ts';
import { validRequest } from './fuzz/valid-requests.ts';
import { wildRequest } from './fuzz/wild-requests.ts';
import { isLongRun } from './long-run.ts';
import { type Memory, openMemoryProbe, withInspector } from './memory.ts';

const batch = 1000;
const batches = isLongRun ? 200 : 10;
/** After this many batches, all code is loaded. */
const warmUp = 5;
/** In MiB, for code that is compiled later and for the thousands of created rooms. */
const maxGrowth = isLongRun ? { heap: 6, resident: 32 } : { heap: 6, resident: 16 };
const timeout = { timeout: isLongRun ? 3_600_000 : 300_000 };

/** Limits are enabled, so that their headers are sent, but too high to be reached. */
const settings = {
  POPROOM_FREE_LIMIT: '100000000',
  POPROOM_MISS_LIMIT: '0',
  POPROOM_TRUSTED_PROXIES: '127.0.0.1',
  // Both are needed for reports.
  POPROOM_ABUSE_CONTACT: 'abuse@example.org',
  POPROOM_ADMIN_TOKEN: 'a'.repeat(24),
  ...withInspector,
};

describe('requests generated from the OpenAPI document', timeout, () => {
  it(
    '[API-11] [ERR-1] [ERR-6] [UP-6] [RUN-7] receive a response that it describes, and leave nothing behind',
    timeout,
    async (t) => {
      const folder = await dataFolder(t);
      const server = await startProcess(t, folder, settings);
      const [memory, operations, rooms] = [
        await openMemoryProbe(t, server),
        await operationsOf(server.url),
        await openRooms(server),
      ];
      const names = await readdir(folder);
      const counts = createResponseCounts(operations);
      const checkResponse = createResponseCheck(operations);
      const send = createSender(t, { port: server.port, rooms, checkResponse, onResponse: counts.record });
      const random = seededRandom(t);
      const any = anyRequest(operations);
      const seed = random.number(2 ** 31);

      async function sendBatches(count: number): Promise<void> {
        for (let n = 0; n < count; n++) {
          await send(fc.sample(any, { seed: random.number(2 ** 31), numRuns: batch }));
          await rooms.refill();
        }
      }

      // Few of the random requests to most pages are rejected, so send one that certainly is.
      await send(operations.flatMap((operation) => fc.sample(withSecondHost(operation), { seed, numRuns: 1 })));
      await sendBatches(warmUp);
      const baseline = await memory();
      await sendBatches(batches - warmUp);
      // The buffers of the last responses are freed with a delay.
      const isAtBaseline = async () => {
        const now = await memory();
        t.diagnostic(`before ${format(baseline)}, after ${format(now)}`);
        return now.heap - baseline.heap < maxGrowth.heap && now.resident - baseline.resident < maxGrowth.resident;
      };
      await eventually(`memory is back to the baseline, within ${format(maxGrowth)}`, isAtBaseline, 30_000);
      t.diagnostic(`responses: ${counts.summary()}`);
      counts.assertAllCovered();

      await rooms.removeAll();
      await eventually('no blobs are left', async () => (await storedBlobs(folder)).length === 0);
      assert.deepEqual(await readdir(folder), names);
      assert.doesNotMatch(server.output(), /"level":"(error|fatal)"/, 'no errors are logged');
      assert.equal((await server.api.get('/api/health')).status, 200);
    },
  );
});

const format = ({ heap, resident }: Memory) => `${heap.toFixed(1)} MiB of heap, ${resident.toFixed(0)} MiB in all`;

/** Of any operation, and more often of those that take more; one in four is right, and one in four wild. */
function anyRequest(operations: readonly Operation[]): fc.Arbitrary<Draft> {
  const each = (draw: (operation: Operation) => fc.Arbitrary<Draft>, from = operations) =>
    fc.oneof(...from.map((operation) => ({ weight: interestOf(operation), arbitrary: draw(operation) })));
  // A valid request of tus depends on the state of an upload, and a snapshot on the text of an encrypted room.
  const stateless = operations.filter(({ path }) => !/\/uploads|\/compact$/.test(path));
  const requests = fc.oneof(
    { weight: 1, arbitrary: each(validRequest, stateless) },
    { weight: 2, arbitrary: each(nearlyValidRequest) },
    { weight: 1, arbitrary: each(wildRequest) },
  );
  return requests.filter((draft) => !changesAccess(draft));
}

/** Whether it may change the PIN or the expiry time of a room, which other requests rely on. */
function changesAccess({ method, path, body }: Draft): boolean {
  if (method !== 'PATCH' || !path.endsWith('{roomId}') || !(body instanceof Map)) return false;
  return /^\s*("\d{4}"|null)\s*$/.test(body.get('pin') ?? '') || /^\s*\d/.test(body.get('expiresIn') ?? '');
}

const interestOf = ({ parameters, bodySchema, takesFile }: Operation) =>
  5 + parameters.length + (bodySchema || takesFile ? 4 : 0);
