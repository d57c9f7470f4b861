/** Eight clients that write until the server is gone, and record what was acknowledged. */
import assert from 'node:assert/strict';
import {
  assertAcknowledged,
  assertDeleted,
  hashOf,
  type TrackedFile,
  type TrackedRoom,
  trackRoom,
} from '../support/acknowledged.ts';
import type { ApiResponse, createApi } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { filePart, form, formType } from '../support/form.ts';
import type { Random } from '../support/seeded-random.ts';

type Api = ReturnType<typeof createApi>;

interface WrittenRoom extends TrackedRoom {
  deletion: 'none' | 'sent' | 'acknowledged';
}

/** The number of acknowledged writes so far. */
interface AcknowledgedCounts {
  /** All writes. */
  writes: number;
  /** Deleted rooms. */
  deletions: number;
  /** Removed files. */
  removals: number;
}

/** Returns whether the server accepted the request. */
type Action = (api: Api) => Promise<boolean>;

export interface Writers {
  /**
   * `enough` resolves after `writes` more acknowledged writes, when a room was deleted and a file removed; `gone` when
   * all clients have lost the server.
   */
  start(api: Api, writes: number): { enough: Promise<void>; gone: Promise<unknown> };
  /** Fails unless the server has all acknowledged data. */
  assertAcknowledged(api: Api): Promise<void>;
  readonly counts: Readonly<AcknowledgedCounts>;
  storedFileCount(): number;
}

const maxRooms = 12;
const maxFiles = 5;

export function createWriters(random: Random): Writers {
  let rooms: WrittenRoom[] = [];
  const deleted: WrittenRoom[] = [];
  const counts: AcknowledgedCounts = { writes: 0, deletions: 0, removals: 0 };
  let texts = 0;
  let names = 0;

  const isStored = ({ state }: TrackedFile) => state === 'there';
  const storedFilesIn = ({ files }: TrackedRoom) => [...files.values()].filter(isStored);

  async function createOrDeleteRoom(api: Api): Promise<boolean> {
    const [oldest] = rooms;
    if (oldest && rooms.length >= maxRooms) return removeRoom(api, oldest);
    const { status, json } = await api.post('/api/rooms');
    assert.equal(status, 201);
    rooms.push({ ...trackRoom(json.roomId), deletion: 'none' });
    return true;
  }

  async function removeRoom(api: Api, room: WrittenRoom): Promise<boolean> {
    room.deletion = 'sent';
    assert.equal((await api.delete(`/api/rooms/${room.code}`)).status, 200);
    room.deletion = 'acknowledged';
    counts.deletions += 1;
    markDeleted(room);
    return true;
  }

  function markDeleted(room: WrittenRoom): void {
    rooms = rooms.filter((other) => other !== room);
    deleted.push(room);
  }

  async function write(api: Api): Promise<boolean> {
    const room = random.pick(rooms);
    texts += 1;
    const content = `text ${texts} ${'x'.repeat(random.number(2000))}`;
    room.sent.add(content);
    const response = await api.post(`/api/rooms/${room.code}/content`, { json: { content } });
    if (!wasAccepted(response, 200, room)) return false;
    room.acknowledged.set(Number(response.headers.get('etag')?.slice(1, -1)), content);
    return true;
  }

  async function upload(api: Api): Promise<boolean> {
    const room = random.pick(rooms);
    if (storedFilesIn(room).length >= maxFiles) return removeFile(api, [room]);
    names += 1;
    const name = `file ${names}`;
    const bytes = Buffer.alloc(random.number(random.number(4) === 0 ? 512 * 1024 : 32 * 1024), `${name} `);
    const file: TrackedFile = { hash: hashOf(bytes), state: 'sent' };
    room.files.set(name, file);
    const response = await send(api, room, name, bytes);
    if (!wasAccepted(response, 201, room)) return false;
    file.id = new URL(response.json.fileUrl).pathname.split('/')[2] ?? '';
    file.state = 'there';
    return true;
  }

  function send(api: Api, { code }: TrackedRoom, name: string, bytes: Buffer): Promise<ApiResponse> {
    if (random.number(2) === 0) return api.upload(code, name, bytes);
    const body = form(filePart(bytes, name));
    return api.post(`/api/rooms/${code}/upload`, { body, headers: { 'content-type': formType } });
  }

  async function removeFile(api: Api, from = rooms): Promise<boolean> {
    const withFiles = from.filter((room) => storedFilesIn(room).length > 0);
    if (withFiles.length === 0) return write(api);
    const room = random.pick(withFiles);
    const file = storedFilesIn(room)[0] as TrackedFile;
    file.state = 'removing';
    const { code } = room;
    if (!wasAccepted(await api.delete(`/api/rooms/${code}/files/${file.id}`), 200, room)) return false;
    file.state = 'removed';
    counts.removals += 1;
    return true;
  }

  /** Only a room that is being deleted may reject a request. */
  function wasAccepted(response: ApiResponse, success: number, { deletion }: WrittenRoom): boolean {
    if (response.status === success) return true;
    assert.notEqual(deletion, 'none', response.text);
    assertError(response, 404, 'ROOM_NOT_FOUND');
    return false;
  }

  async function assertRoom(api: Api, room: WrittenRoom): Promise<void> {
    const { status } = await api.get(`/api/rooms/${room.code}`);
    if (room.deletion === 'sent' && status === 404) return markDeleted(room);
    room.deletion = 'none';
    await assertAcknowledged(api, room);
  }

  return {
    start(api, writes) {
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const until = counts.writes + writes;
      const repeat = (act: Action) =>
        untilServerStops(async () => {
          if (await act(api)) counts.writes += 1;
          if (counts.writes >= until && counts.deletions > 0 && counts.removals > 0) resolve();
        });
      const writing = async () => {
        await createOrDeleteRoom(api);
        const others = [write, write, write, upload, upload, removeFile, removeFile];
        await Promise.all([...others.map((act) => repeat((api) => act(api))), repeat(createOrDeleteRoom)]);
      };
      return { enough, gone: writing() };
    },

    async assertAcknowledged(api) {
      await Promise.all([...rooms].map((room) => assertRoom(api, room)));
      for (const room of deleted) {
        await assertDeleted(api, room);
        // There are many files, so check them only once.
        room.files.clear();
      }
    },

    counts,
    storedFileCount: () => rooms.reduce((sum, room) => sum + storedFilesIn(room).length, 0),
  };
}

/** Repeats until requests fail without a response. An unexpected response fails the test. */
export async function untilServerStops(act: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await act();
    } catch (error) {
      if (/^(fetch failed|terminated)$/.test((error as Error).message)) return;
      throw error;
    }
  }
}
