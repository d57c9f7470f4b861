/** Many thousand requests, drawn from the server's own description: right, nearly right and wild. None breaks a promise. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { storedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, startProcess } from '../support/process.ts';
import { residentMemory } from '../support/process-figures.ts';
import { seededChance } from '../support/seeded-random.ts';
import type { Draft } from './fuzz/draft.ts';
import { createJudge } from './fuzz/judge.ts';
import { nearlyValidRequest } from './fuzz/nearly-valid.ts';
import { type Operation, operationsOf } from './fuzz/operations.ts';
import { openRooms } from './fuzz/rooms.ts';
import { createSender } from './fuzz/sender.ts';
import { createTally } from './fuzz/tally.ts';
import { validRequest } from './fuzz/valid-requests.ts';
import { wildRequest } from './fuzz/wild-requests.ts';
import { openHeap, withInspector } from './heap.ts';
import { isLongForm } from './long-form.ts';

const requests = isLongForm ? 200_000 : 20_000;
const batch = 1000;
/** After so many, all code is loaded and compiled. */
const warmUp = 4000;
/** MiB. What V8 has for young objects grows to 50 MiB in a busy server, and the C library keeps some of what is freed. */
const mostGrowth = { heap: 8, whole: isLongForm ? 64 : 32 };
const patience = { timeout: isLongForm ? 3_600_000 : 300_000 };

/** The limits are on, so that their headers are there, and too high to be met. */
const settings = {
  POPROOM_FREE_LIMIT: '100000000',
  POPROOM_MISS_LIMIT: '0',
  POPROOM_TRUSTED_PROXIES: '127.0.0.1',
  POPROOM_METRICS: 'true',
  ...withInspector,
};

describe('requests that are drawn from the description', patience, () => {
  it('[API-11] [ERR-1] [ERR-6] [UP-6] [RUN-7] are answered as it promises, and leave nothing', patience, async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, settings);
    const [heap, operations, rooms] = [
      await openHeap(t, server),
      await operationsOf(server.url),
      await openRooms(server),
    ];
    const names = await readdir(folder);
    const tally = createTally(operations);
    const judge = createJudge(operations);
    const send = createSender(t, { port: server.port, rooms, judge, note: tally.note });
    const chance = seededChance(t);
    const any = anyRequest(operations);

    const memory = async () => ({ heap: await heap(), whole: await residentMemory(server.pid) });
    let atRest = await memory();
    for (let sent = 0; sent < requests; sent += batch) {
      if (sent === warmUp) atRest = await memory();
      await send(fc.sample(any, { seed: chance.number(2 ** 31), numRuns: batch }));
      await rooms.refill();
    }
    const after = await memory();
    t.diagnostic(`MiB before ${JSON.stringify(atRest)}, after ${JSON.stringify(after)}; answers: ${tally.told()}`);
    assert.ok(after.heap - atRest.heap < mostGrowth.heap, `the heap grew from ${atRest.heap} to ${after.heap} MiB`);
    assert.ok(after.whole - atRest.whole < mostGrowth.whole, `it grew from ${atRest.whole} to ${after.whole} MiB`);
    tally.assertAllMet();

    await rooms.removeAll();
    await eventually('no bytes are left', async () => (await storedBlobs(folder)).length === 0);
    assert.deepEqual(await readdir(folder), names);
    assert.doesNotMatch(server.output(), /"level":[56]0/, 'nothing is logged as an error');
    assert.equal((await server.api.get('/api/health')).status, 200);
  });
});

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
