/** The contract of stores for the admin interface. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  ActivityLimits,
  ActivityReport,
  ActivityTotals,
  AddressBlock,
  ClientTraffic,
  RoomReport,
} from '../../src/core/ports/admin.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  createRoom,
  day,
  file,
  hour,
  type OpenStore,
  ownStore,
  quota,
  second,
  start,
  writeText,
} from './store-under-test.ts';

const minute = 60 * second;

export function summaryTests(open: OpenStore): void {
  it('[ADMIN-4] lists every unexpired room once, with its size and without its name', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, summaries } = store;
    const owner = { client: '0123456789ab', network: undefined };
    const code = await createRoom(rooms, { name: 'secret name', owner, createdBy: 'user:alice' });
    await store.files.addFile(code, file({ size: 1000 }), quota);
    await writeText(store.texts, code, 'secret text');
    await createRoom(rooms, { expiresAt: start });
    // More than one batch.
    const others = await Promise.all(Array.from({ length: 250 }, () => createRoom(rooms)));
    const listed = await Array.fromAsync(summaries.list(start));
    assert.deepEqual(listed.map((room) => room.code).sort(), [code, ...others].sort());
    const found = listed.find((room) => room.code === code);
    assert.deepEqual(found, await summaries.find(code, start));
    const { textBytes = 0, ...rest } = found ?? {};
    assert.ok(textBytes >= 'secret text'.length && textBytes < 1000, String(textBytes));
    const expected = { code, createdAt: start, expiresAt: start + day, hasPin: false, fileCount: 1, fileBytes: 1000 };
    assert.deepEqual(rest, { ...expected, client: owner.client, createdBy: 'user:alice' });
    assert.equal(await summaries.find(code, start + day), undefined);
  });
}

export function blockTests(open: OpenStore): void {
  it('[ADMIN-8] keeps blocks, newest first, until they end or are removed, also after a restart', async (t) => {
    const { store, reopen } = await ownStore(t, open);
    const [endless, ending] = [block('10.0.0.0/8', 1), block('2001:db8::/32', 2, { endsAt: start + hour })];
    for (const one of [endless, ending]) assert.equal(await store.blocks.put(one, 500), 'stored');
    const { blocks } = await reopen(start);
    assert.deepEqual(await blocks.list(start + hour - 1), [ending, endless]);
    assert.deepEqual(await blocks.list(start + hour), [endless]);
    assert.equal(await blocks.remove(endless.id), 'removed');
    assert.equal(await blocks.remove(endless.id), 'unknown');
    assert.deepEqual(await blocks.list(start), [ending]);
  });

  it('[ADMIN-8] replaces the block of the same range, and keeps at most a maximum of others', async (t) => {
    const { blocks } = (await ownStore(t, open)).store;
    const [first, second] = [block('10.0.0.0/8', 1), block('11.0.0.0/8', 2, { endsAt: start + minute })];
    for (const one of [first, second]) assert.equal(await blocks.put(one, 2), 'stored');
    assert.equal(await blocks.put(block('12.0.0.0/8', 3), 2), 'full');
    const again = block('10.0.0.0/8', 4, { reason: 'still' });
    assert.equal(await blocks.put(again, 2), 'stored');
    assert.deepEqual(await blocks.list(start), [again, second]);
    // One that has ended makes space.
    const later = block('12.0.0.0/8', 5, { createdAt: start + hour });
    assert.equal(await blocks.put(later, 2), 'stored');
    assert.deepEqual(await blocks.list(start), [later, again]);
  });
}

export function reportTests(open: OpenStore): void {
  it('[REPORT-3] keeps reports, newest first, until they are removed or too old, also after a restart', async (t) => {
    const { store, reopen } = await ownStore(t, open);
    const [first, other] = [roomReport(1), roomReport(2, { comment: undefined, client: 'bbbbbbbbbbbb' })];
    for (const one of [first, other]) assert.equal(await store.reports.put(one, reportLimits), 'stored');
    const { reports } = await reopen(start);
    assert.deepEqual(await reports.list(0), [other, first]);
    assert.deepEqual(await reports.list(start + 2), [other]);
    await reports.expire(start + 2);
    assert.deepEqual(await reports.list(0), [other]);
    assert.equal(await reports.remove([first.id, other.id]), 1);
    assert.deepEqual(await reports.list(0), []);
  });

  it('[REPORT-3] replaces the report of a client about a room, and keeps to its limits', async (t) => {
    const { reports } = (await ownStore(t, open)).store;
    const put = (one: RoomReport) => reports.put(one, reportLimits);
    const ofRoom = [roomReport(1), roomReport(2, { client: 'b' })];
    for (const one of ofRoom) assert.equal(await put(one), 'stored');
    assert.equal(await put(roomReport(3, { client: 'c' })), 'full', 'of the room');
    const again = roomReport(4, { reason: 'illegal' });
    assert.equal(await put(again), 'stored');
    assert.deepEqual(await reports.list(0), [again, ofRoom[1]]);
    const reused = roomReport(5, { roomCreatedAt: start + 1 });
    assert.equal(await put(reused), 'stored', 'another room with the same code');
    assert.equal(await put(roomReport(6, { code: 'AAAAAA' as RoomCode })), 'full', 'of the client');
    assert.equal(await put(roomReport(7, { code: 'AAAAAA' as RoomCode, client: 'd' })), 'full', 'in total');
    const later = roomReport(8, { code: 'AAAAAA' as RoomCode, client: 'd', createdAt: start + hour + 5 });
    assert.equal(await put(later), 'stored', 'old ones make space');
    assert.deepEqual(await reports.list(0), [later, reused]);
  });
}

const reportLimits = { perRoom: 2, perClient: 2, inTotal: 3, keptMs: hour };

function roomReport(order: number, over: Partial<RoomReport> = {}): RoomReport {
  return {
    id: order.toString(16).padStart(10, '0'),
    code: '7KQ2MX' as RoomCode,
    roomCreatedAt: start,
    reason: 'malware',
    comment: 'a virus',
    client: 'aaaaaaaaaaaa',
    createdAt: start + order,
    ...over,
  };
}

function block(range: string, order: number, over: Partial<AddressBlock> = {}): AddressBlock {
  const id = order.toString(16).padStart(10, '0');
  return { id, range, reason: 'a test', createdAt: start + order, endsAt: undefined, ...over };
}

export function activityTests(open: OpenStore): void {
  /** On the hour, so that an hour begins and ends where the tests expect it. */
  const at = start - (start % hour);

  it('[ADMIN-3] sums the reports of all nodes by interval, and keeps them for a time, also after a restart', async (t) => {
    const { store, reopen } = await ownStore(t, open);
    await store.activity.report(report('one', { totals: counts(10) }), limits, at);
    await store.activity.report(report('two', { totals: counts(3), gauges: gauges(4, 2) }), limits, at + minute);
    await store.activity.report(report('one', { totals: counts(1), gauges: gauges(5, 1) }), limits, at + 6 * minute);
    const { activity } = await reopen(start);
    const [first, second, ...rest] = await activity.intervals(at);
    assert.deepEqual(first, { at, ...counts(13), rooms: 4, channels: 1 + 2, storedBytes: 400 });
    assert.deepEqual(second, { at: at + 5 * minute, ...counts(1), rooms: 5, channels: 1, storedBytes: 500 });
    assert.deepEqual(rest, []);
    assert.deepEqual(await activity.intervals(at + 1), [second]);
    await activity.report(report('one'), limits, at + limits.keptMs + 6 * minute);
    assert.equal((await activity.intervals(0)).at(0)?.at, at + limits.keptMs + 5 * minute);
  });

  it('[ADMIN-3] knows the channels of the nodes that run', async (t) => {
    const { activity } = (await ownStore(t, open)).store;
    await activity.report(report('one', { gauges: gauges(1, 7) }), limits, at);
    await activity.report(report('two', { gauges: gauges(1, 2) }), limits, at + second);
    const nodes = await activity.nodes(at);
    assert.deepEqual(nodes.map(({ channels }) => channels).sort(), [2, 7]);
    assert.deepEqual(await activity.nodes(at + 1), [{ node: 'two', channels: 2 }]);
    await activity.report(report('two', { gauges: undefined }), limits, at + second);
    assert.deepEqual(await activity.nodes(0), [{ node: 'one', channels: 7 }]);
  });

  it('[ADMIN-6] sums clients by hour, and keeps the most active ones of an hour', async (t) => {
    const { activity } = (await ownStore(t, open)).store;
    const clients = Array.from({ length: 30 }, (_, i) => traffic(`10.0.0.${i}`, i + 1));
    await activity.report(report('one', { clients }), limits, at);
    await activity.report(report('two', { clients: [traffic('10.0.0.29', 5)] }), limits, at + minute);
    await activity.report(report('one', { clients: [traffic('10.0.0.29', 1)] }), limits, at + hour);
    const byName = (some: ClientTraffic[]) => some.sort((a, b) => b.requests - a.requests);
    const all = byName(await activity.clients(at));
    assert.equal(all.length, limits.clientsPerHour);
    assert.deepEqual(all.slice(0, 2), [traffic('10.0.0.29', 36), traffic('10.0.0.28', 29)]);
    assert.deepEqual(await activity.clients(at + hour), [traffic('10.0.0.29', 1)]);
  });

  it('[ADMIN-11] counts the use of API keys for as long as the store exists', async (t) => {
    const { activity } = (await ownStore(t, open)).store;
    await activity.report(report('one', { clients: [traffic('key:a', 2), traffic('key:b', 1)] }), limits, at);
    await activity.report(report('two', { clients: [traffic('key:a', 3)] }), limits, at + 30 * day);
    const uses = (await activity.keyUse()).sort((a, b) => (a.keyId < b.keyId ? -1 : 1));
    const use = (keyId: string, count: number, lastUsedAt: number) => {
      const { client: _, ...counted } = traffic('', count);
      return { keyId, ...counted, lastUsedAt };
    };
    assert.deepEqual(uses, [use('a', 5, at + 30 * day), use('b', 1, at)]);
  });
}

const limits: ActivityLimits = {
  intervalMs: 5 * minute,
  keptMs: day,
  clientsKeptMs: 2 * hour,
  clientsPerHour: 20,
  nodeSeenMs: minute,
};

const gauges = (rooms: number, channels: number) => ({ rooms, channels, storedBytes: 100 * rooms });

function report(node: string, over: Partial<ActivityReport> = {}): ActivityReport {
  return { node, totals: counts(0), clients: [], gauges: gauges(1, 1), ...over };
}

function counts(count: number): ActivityTotals {
  const { client: _, ...counted } = traffic('', count);
  return { ...counted, failed: count * 5, roomsCreated: count * 6 };
}

/** With numbers that differ, and bytes that exceed 32 bits. */
const traffic = (client: string, count: number): ClientTraffic => ({
  client,
  requests: count,
  refused: count * 2,
  received: count * 3,
  sent: count * 4_000_000_000,
});
