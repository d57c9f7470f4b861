/** Expired rooms on several nodes that all sweep. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { joinRoom } from '../support/device.ts';
import { embeddedSettings } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { installationSettings, withoutLimits } from '../support/nodes.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

const roomCount = 40;
const fileCount = 24;
const deletedWithinMs = 60_000;

describe('two nodes that sweep concurrently', () => {
  let redis: RedisServer;
  let s3: TestS3;
  before(async () => {
    [redis, s3] = await Promise.all([startRedis(), startS3()]);
    Object.assign(process.env, s3.env);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  it('[NODE-14] remove each room once, and remove each of its files once', async (t) => {
    const settings = installationSettings({ redis, s3 }, withoutLimits);
    const [one, two] = [await startTestServer(t, settings), await startTestServer(t, settings)];
    for (let i = 0; i < roomCount; i++) {
      const room = await one.api.room({ expiresIn: 60 });
      assert.equal((await two.api.upload(room, 'a.txt', `bytes of ${room}`)).status, 201);
    }
    const stays = await one.api.room();
    await two.api.upload(stays, 'stays.txt', 'abc');
    assert.equal((await s3.keys()).length, roomCount + 1);

    const startedAt = performance.now();
    for (const { clock } of [one, two]) clock.advance(61_000);
    // Each node sweeps shortly after its start, so both sweep concurrently.
    await Promise.all([one.restart(), two.restart()]);
    await eventually('the blobs are deleted', async () => (await s3.keys()).length === 1, deletedWithinMs);
    await eventually('both nodes have logged their sweeps', () => sweptBy(one) + sweptBy(two) >= roomCount);
    assert.equal(sweptBy(one) + sweptBy(two), roomCount, 'each room is removed once');
    await assertRemovals(settings, roomCount);
    for (const { api } of [one, two]) assert.equal((await api.get(`/api/rooms/${stays}/files`)).json.files.length, 1);
    t.diagnostic(
      `${sweptBy(one)} by one and ${sweptBy(two)} by the other, in ${Math.round(performance.now() - startedAt)} ms`,
    );
  });

  it('[NODE-14] remove each file once, whichever node and request removes it', async (t) => {
    const settings = installationSettings({ redis, s3 }, withoutLimits);
    const nodes = [await startTestServer(t, settings), await startTestServer(t, settings)];
    await removeAllConcurrently(nodes);
    await assertRemovals(settings, fileCount);
  });

  it('remove each file once on a single node too, with rooms in SQLite', async (t) => {
    const settings = {
      ...installationSettings({ redis, s3 }, withoutLimits),
      ...embeddedSettings,
      POPROOM_FILES: `s3://${s3.bucket}/alone`,
    };
    await removeAllConcurrently([await startTestServer(t, settings)]);
    await assertRemovals(settings, fileCount);
  });

  /** Fails unless each file of an installation was deleted once. The last response may arrive after the file is gone. */
  async function assertRemovals({ POPROOM_FILES = '' }: Record<string, string>, count: number): Promise<void> {
    const prefix = POPROOM_FILES.replace('s3:/', '');
    const removals = () => s3.deletions().filter((path) => path.startsWith(`${prefix}/`)).length;
    await eventually('all deletions have finished', () => removals() >= count);
    assert.equal(removals(), count, 'each file is removed once');
  }

  it('[NODE-14] notify the devices of all nodes of the end', async (t) => {
    const settings = installationSettings({ redis, s3 }, withoutLimits);
    const [one, two] = [await startTestServer(t, settings), await startTestServer(t, settings)];
    const room = await one.api.room({ expiresIn: 60 });
    const devices = await Promise.all([one, two].map(({ url }) => joinRoom(t, url, room)));
    await Promise.all(devices.map((device) => device.next('snapshot')));
    for (const { clock } of [one, two]) clock.advance(61_000);
    for (const device of devices) {
      assert.equal((await device.next('closed')).reason, 'expired');
      assert.equal((await device.closed).code, 4410);
    }
    for (const { api } of [one, two]) assert.equal((await api.get(`/api/rooms/${room}`)).code, 'ROOM_EXPIRED');
  });
});

/** Removes all files concurrently, on all nodes in turn, waits until the blobs are removed, and lets the nodes sweep. */
async function removeAllConcurrently(nodes: readonly TestServer[]): Promise<void> {
  const api = (n: number) => (nodes[n % nodes.length] as TestServer).api;
  const room = await api(0).room();
  for (let n = 0; n < fileCount; n++) assert.equal((await api(n).upload(room, 'a.txt', `bytes of ${n}`)).status, 201);
  const { files } = (await api(0).get(`/api/rooms/${room}/files`)).json;
  const ids: string[] = files.map(({ fileId }: { fileId: string }) => fileId);
  assert.equal(ids.length, fileCount);
  const removals = await Promise.all(ids.map((id, n) => api(n).delete(`/api/rooms/${room}/files/${id}`)));
  for (const { status } of removals) assert.equal(status, 200);
  const { counts } = await inspectStore(nodes[0] as TestServer);
  // A response waits for a second at most, and another node may repeat a removal that takes longer than its claim.
  await eventually('the blobs are removed', async () => (await counts()).trash === 0);
  for (const { clock } of nodes) clock.advance(61_000);
  // Each node sweeps shortly after its start, so all of them sweep concurrently.
  await Promise.all(nodes.map((node) => node.restart()));
}

/** The number of swept rooms in the log of a node. */
function sweptBy({ logged }: TestServer): number {
  const swept = logged()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'swept');
  return swept.reduce((sum, { rooms }) => sum + rooms, 0);
}
