/** All devices reach the same state after any sequence of events. */
import { describe, it, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type Device, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { applyMessage, emptyRoomView, type RoomView } from '../support/room-view.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const members = 3;

/** A device that loses its connection, comes back with the seq it has, and writes on what it knows. */
class Member {
  readonly id: string;
  replica: RoomView = emptyRoomView();
  #device: Device | undefined;
  #learned = 0;
  #answered = 0;
  #pending = new Map<string, { text: string; version: number }>();

  constructor(id: string) {
    this.id = id;
  }

  async join(t: TestContext, server: TestServer, room: string): Promise<void> {
    if (this.#device) return;
    const { seq } = this.replica;
    this.#device = await joinRoom(t, server.url, room, { deviceId: this.id, ...(seq !== undefined && { seq }) });
    this.#learned = 0;
  }

  /** Without a goodbye. */
  drop(): void {
    this.#catchUp();
    this.#device?.socket.terminate();
    this.#device = undefined;
    this.#pending.clear();
    this.#answered = 0;
  }

  write(text: string): void {
    this.#catchUp();
    if (!this.#device) return;
    const ref = `${this.id}-${text}`;
    this.#pending.set(ref, { text, version: this.replica.version + 1 });
    this.#device.send({ type: 'content', content: text, baseVersion: this.replica.version, ref });
  }

  /** Waits until all that it wrote is answered: only then is there one truth. */
  async settle(): Promise<void> {
    await eventually('every write is answered', () => {
      this.#catchUp();
      return !this.#device || this.#pending.size === this.#answered;
    });
  }

  knows(): RoomView {
    this.#catchUp();
    return this.replica;
  }

  #catchUp(): void {
    const told = this.#device?.received ?? [];
    for (const message of told.slice(this.#learned)) {
      this.replica = applyMessage(this.replica, message);
      if (message.type === 'written' || message.type === 'conflict') this.#answered += 1;
      const own = message.type === 'written' && this.#pending.get(message.ref ?? '');
      if (own && own.version >= this.replica.version) Object.assign(this.replica, own);
    }
    this.#learned = told.length;
  }
}

type Step = { who: number; what: 'join' | 'drop' | 'write' | 'rest' | 'upload' | 'remove' | 'wait' };

const step: fc.Arbitrary<Step> = fc.record({
  who: fc.nat({ max: members - 1 }),
  what: fc.constantFrom('join', 'join', 'drop', 'write', 'write', 'rest', 'upload', 'remove', 'wait'),
});

describe('devices of a room', () => {
  it('[LIVE-3] [LIVE-4] [LIVE-5] agree with the server after any interleaving', (t) => assertAgreement(t, 8));

  it('[slow] [LIVE-3] [LIVE-4] [LIVE-5] agree with the server after many interleavings', (t) => assertAgreement(t, 25));
});

async function assertAgreement(t: TestContext, numRuns: number): Promise<void> {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MAX_CHANNELS_PER_CLIENT: '1000' });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), (steps) => play(t, server, steps)),
    { numRuns, seed: 20_261_115, endOnFailure: true },
  );
}

async function play(t: TestContext, server: TestServer, steps: Step[]): Promise<void> {
  const room = await server.api.room();
  const all = Array.from({ length: members }, (_, i) => new Member(`member-${i}`));
  for (const [n, { who, what }] of steps.entries()) await act(t, server, room, all[who] as Member, what, `text ${n}`);
  for (const member of all) await member.settle();
  for (const member of all) await member.join(t, server, room);
  // The truth is read anew each time: what a member wrote just before it was cut off may still arrive.
  await eventually('all members know what the server has', async () => {
    const truth = await truthOf(server, room);
    return all.every((member) => isDeepStrictEqual(knownTo(member), truth));
  }).catch(async (error) => {
    const known = JSON.stringify(all.map((member) => member.knows()));
    throw new Error(`${error.message}: ${JSON.stringify(await truthOf(server, room))}; they know ${known}`);
  });
  for (const member of all) member.drop();
}

async function truthOf({ api }: TestServer, room: string) {
  const { content } = (await api.get(`/api/rooms/${room}/content`)).json;
  const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
  return { text: content, files: files.map(({ fileId }: { fileId: string }) => fileId).sort() };
}

function knownTo(member: Member) {
  const { text, files } = member.knows();
  return { text, files: files.toSorted() };
}

async function act(t: TestContext, server: TestServer, room: string, member: Member, what: Step['what'], text: string) {
  const { api } = server;
  const path = `/api/rooms/${room}`;
  if (what === 'join') await member.join(t, server, room);
  else if (what === 'drop') member.drop();
  else if (what === 'write') member.write(text);
  else if (what === 'rest') await api.post(`${path}/content`, { json: { content: text } });
  else if (what === 'upload') await api.upload(room, `${text}.txt`, text);
  else if (what === 'wait') await new Promise((resolve) => setImmediate(resolve));
  else {
    const [file] = (await api.get(`${path}/files`)).json.files;
    if (file) await api.delete(`${path}/files/${file.fileId}`);
  }
}
