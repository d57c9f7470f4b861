/** What a driver brings to the contract of stores, and the records that its tests are made of. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, type TestContext } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type {
  CodeLength,
  Content,
  GuardRules,
  RoomDraft,
  RoomStore,
  Store,
  StoredFile,
  Visit,
} from '../../src/core/ports.ts';
import { drawSymbols, type RoomCode } from '../../src/core/room-code.ts';

export interface StoreUnderTest {
  store: Store;
  /** Closes cleanly and opens the same data again. */
  reopen(now: number): Promise<Store>;
  dispose(): Promise<void>;
}

export type OpenStore = (options: { rules: GuardRules; now: number }) => Promise<StoreUnderTest>;

export const second = 1000;
export const hour = 3600 * second;
export const day = 24 * hour;

/** The moment the tests begin; from here on time goes only as they say. */
export const start = Date.now();

/** No limit of one client over all rooms: for tests in which another guard must be the one that acts. */
export const manyMisses = guardRules(0);

/** One store for all the tests of a suite; each makes its own rooms and clients, so that they do not meet. */
export function sharedStore(
  open: OpenStore,
  rules: GuardRules = guardRules(20),
): Pick<Store, 'rooms' | 'rates' | 'keys' | 'archive'> {
  let under: StoreUnderTest;
  before(async () => {
    under = await open({ rules, now: start });
  });
  after(() => under.dispose());
  return {
    get rooms() {
      return under.store.rooms;
    },
    get rates() {
      return under.store.rates;
    },
    get keys() {
      return under.store.keys;
    },
    get archive() {
      return under.store.archive;
    },
  };
}

/** A store for one test that looks at all there is in it, or opens it again. */
export async function ownStore(t: TestContext, open: OpenStore, rules = guardRules(20)): Promise<StoreUnderTest> {
  const under = await open({ rules, now: start });
  t.after(() => under.dispose());
  return under;
}

const eightSymbols: readonly CodeLength[] = [{ length: 8, upTo: Number.MAX_SAFE_INTEGER }];

export function draft(over: Partial<RoomDraft> = {}): RoomDraft {
  return {
    draw: drawSymbols(),
    codeLengths: eightSymbols,
    createdAt: start,
    expiresAt: start + day,
    pinMac: undefined,
    creator: newClient(),
    ...over,
  };
}

export async function makeRoom(rooms: RoomStore, over: Partial<RoomDraft> = {}): Promise<RoomCode> {
  const code = await rooms.createRoom(draft(over));
  assert.ok(code, 'the drawn code should be free');
  return code;
}

export function visit(code: RoomCode | undefined, over: Partial<Visit> = {}): Visit {
  return { code, client: newClient(), pinMac: undefined, deviceId: undefined, now: start, ...over };
}

export function file(over: Partial<StoredFile> = {}): StoredFile {
  return {
    id: randomBytes(16).toString('hex'),
    blob: randomBytes(32).toString('hex'),
    name: 'photo.jpg',
    type: 'image/jpeg',
    size: 1000,
    uploadedAt: start,
    ...over,
  };
}

/** The text as someone at the door gets it; undefined where there is no room. */
export async function textOf(
  rooms: RoomStore,
  code: RoomCode,
  now: number = start,
  pinMac?: Uint8Array,
): Promise<Content | undefined> {
  const admission = await rooms.read(visit(code, { now, pinMac }));
  return admission.outcome === 'admitted' ? admission.content : undefined;
}

let clients = 0;

export function newClient(): string {
  clients += 1;
  return `client-${clients}`;
}

/** A code that no room has. */
export function unknownCode(): RoomCode {
  return drawSymbols() as RoomCode;
}

/** Stands for a keyed hash: the store compares, and knows nothing of how it came about. */
export function mac(pin: string): Uint8Array {
  return createHash('sha256').update(pin).digest();
}

export const quota = { files: 100, bytes: 100 * 1024 * 1024 };

export function write(content: string, ifVersions?: readonly number[], now: number = start) {
  return { content, ifVersions, now };
}
