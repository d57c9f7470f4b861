/** The rooms that the requests are about: some with a PIN and some without, each with a file and an earlier text. */
import assert from 'node:assert/strict';
import type { ServerProcess } from '../../support/process.ts';
import { type Draft, type Place, pin } from './draft.ts';
import { roomsOfEachKind } from './valid-requests.ts';

export interface Rooms {
  placeOf(draft: Draft): Place;
  /** Puts new rooms in the place of those that were deleted, and a file or a checkpoint where there is none. */
  refill(): Promise<void>;
  removeAll(): Promise<void>;
}

/** Uses another client address than the fuzzer, so that it is not locked out with it. */
const maker = { from: '192.0.2.1' };

export async function openRooms({ api }: ServerProcess): Promise<Rooms> {
  const slotsOf = (locked: boolean) =>
    Array.from({ length: roomsOfEachKind }, () => ({ locked, place: { room: '', file: '', version: '' } }));
  const [open, closed] = [slotsOf(false), slotsOf(true)];
  const slots = [...open, ...closed];
  const accessTo = (locked: boolean) => ({ ...maker, ...(locked && { pin }) });

  async function furnish(slot: (typeof slots)[number]): Promise<void> {
    const access = accessTo(slot.locked);
    const isThere = slot.place.room !== '' && (await api.get(`/api/rooms/${slot.place.room}`, access)).status === 200;
    if (!isThere) slot.place.room = await api.room(slot.locked ? { pin } : {}, maker);
    const { files } = (await api.get(`/api/rooms/${slot.place.room}/files`, access)).json;
    if (files.length === 0) await api.upload(slot.place.room, 'a.txt', 'hello', access);
    const { json } = await api.get(`/api/rooms/${slot.place.room}/files`, access);
    slot.place.file = json.files[0].fileId;
    slot.place.version = String((await newestCheckpoint(slot.place.room, access)).version);
  }

  async function newestCheckpoint(room: string, access: object): Promise<{ version: number }> {
    const readHistory = async () => (await api.get(`/api/rooms/${room}/history`, access)).json.history;
    const [newest] = await readHistory();
    if (newest) return newest;
    const write = (content: string) => api.post(`/api/rooms/${room}/content`, { json: { content }, ...access });
    await write('a text that is long enough for the history');
    await write('');
    return (await readHistory())[0];
  }

  const refill = async () => void (await Promise.all(slots.map(furnish)));
  await refill();
  return {
    placeOf({ locked, roomNumber }) {
      const { place } = (locked ? closed : open)[roomNumber] as (typeof slots)[number];
      return { ...place };
    },
    refill,
    async removeAll() {
      for (const { locked, place } of slots) {
        const { status } = await api.delete(`/api/rooms/${place.room}`, accessTo(locked));
        assert.ok([200, 404].includes(status));
      }
    },
  };
}
