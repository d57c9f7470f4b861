/** The rooms that the requests are about: some with a PIN and some without, each with a file. */
import assert from 'node:assert/strict';
import type { ServerProcess } from '../../support/process.ts';
import { type Draft, type Place, pin } from './draft.ts';
import { roomsOfEachKind } from './valid-requests.ts';

export interface Rooms {
  placeOf(draft: Draft): Place;
  /** Puts new rooms in the place of those that were deleted, and a file where there is none. */
  refill(): Promise<void>;
  removeAll(): Promise<void>;
}

/** Whoever makes and removes them is another client than those who send rubbish, and is not locked out with them. */
const maker = { from: '192.0.2.1' };

export async function openRooms({ api }: ServerProcess): Promise<Rooms> {
  const slotsOf = (locked: boolean) =>
    Array.from({ length: roomsOfEachKind }, () => ({ locked, place: { room: '', file: '' } }));
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
