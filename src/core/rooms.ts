/** Operations on rooms and their texts. */

import type { RoomOperation } from '../protocol/link-rights.ts';
import { parseLinkId } from '../protocol/room-code.ts';
import type { UpdateRoomRequest } from '../protocol/types.ts';
import { type AdmittedRoom, admit, admitToRead, type Caller, macPin, parsePin, proofOf } from './admission.ts';
import { chain } from './concurrency.ts';
import type { CoreDeps } from './deps.ts';
import { hasCode, invalidField, orMissing, PoproomError } from './errors.ts';
import { changeOnce, type KeyedRun } from './idempotency.ts';
import { checkLifetime, unfinishedUploadMs } from './limits.ts';
import type { ClientId, CreatedBy, MissingReason, Room } from './ports/basics.ts';
import type { RoomStore, RoomUpdate } from './ports/rooms.ts';
import type { Checkpoint, CheckpointInfo } from './ports/texts.ts';
import { codeLengths, drawSymbols, type RoomCode, type RoomKind } from './room-code.ts';
import { checkSealedMeta, cleanRoomName, longestSealed, looksSealed } from './sealed.ts';
import { endRoom, expiryWithin, extendAfterWrite, extending } from './sweep.ts';
import { checkContent, type EditRequest, type WrittenText } from './text/edit-decision.ts';
import { type SealedEditRequest, type SealedSnapshot, sealedContentOf } from './text/sealed-texts.ts';
import { createTexts } from './text/texts.ts';

interface RoomRules {
  /** Seconds. */
  lifetime: number;
  longestLifetime: number;
  /** Bytes of UTF-8. */
  largestContent: number;
}

export interface NewRoom {
  client: ClientId;
  pin: string | undefined;
  /** Seconds; undefined means the default lifetime. */
  expiresIn: number | undefined;
  name?: string | null | undefined;
  history: boolean;
  /** Whether each write moves the expiry to the lifetime after it. */
  extend?: boolean | undefined;
  /** Both as base64url, in the lengths of the schema. */
  encryption?: { salt: string; verifier: string } | undefined;
  createdBy?: CreatedBy | undefined;
}

/** The result of creating a room. In a record it has the draw instead of the code, which the store decides about. */
export type CreatedRoom = Pick<Room, 'code' | 'expiresAt' | 'hasPin' | 'name' | 'salt' | 'extendMs'>;

export type RoomWithDevices = AdmittedRoom & { deviceCount: number };

export type ContentEdit =
  | Pick<SealedEditRequest, 'sealed' | 'baseVersion' | 'ifVersions'>
  | Pick<EditRequest, 'edits' | 'baseVersion' | 'ifVersions'>
  | { append: string; ifVersions?: readonly number[] | undefined };

export type Rooms = ReturnType<typeof createRooms>;

export function createRooms(deps: CoreDeps, rules: RoomRules) {
  const { rooms, clock, secret, quota } = deps;
  const charging = { storage: deps.storage, limits: quota.textLimits, clock };
  const texts = createTexts(deps, rules, charging);
  const maxContentBytes = longestSealed(rules.largestContent);

  /** Deletes a room. Returns the reason if there is no such room. */
  async function end(code: RoomCode): Promise<MissingReason | undefined> {
    const ended = await endRoom(deps, code);
    if (ended === undefined) texts.forget(code);
    return ended;
  }

  async function withDevices(room: AdmittedRoom): Promise<RoomWithDevices> {
    const devices = await rooms.listDevices(room.code, clock());
    return { ...room, deviceCount: devices.length };
  }

  async function readByLink(caller: Caller) {
    const { code, salt } = await admit(deps, caller, 'readText');
    const { content, fullTextVersion, entries } = orMissing(await deps.texts.readText(code, clock()));
    if (salt === undefined) return content;
    const later = entries.filter(({ version }) => version > fullTextVersion);
    const anonymous = later.map((entry) => ({ ...entry, deviceId: undefined, ref: undefined }));
    return sealedContentOf(content, { contentVersion: fullTextVersion, entries: anonymous });
  }

  /** Changes the text, unless an earlier run of the request has done so, and moves the expiry of the room. */
  const changing = (room: Room, run: KeyedRun<WrittenText> | undefined, change: () => Promise<WrittenText>) =>
    extending(deps, room, run ? changeOnce(run, change) : change());

  /** Another request may change the PIN after this caller was admitted. Then the caller needs the new one. */
  async function updateAdmitted(caller: Caller, changes: CheckedChanges) {
    for (let attempts = 0; attempts < 5; attempts++) {
      const room = await admit(deps, caller, 'changeRoom');
      const { code, hasPin, salt } = room;
      checkForRoom(changes, room);
      const now = clock();
      const { expiresIn, pin, name } = changes;
      const update: RoomUpdate = {
        client: caller.client,
        isCrossSite: caller.isCrossSite ?? false,
        expiresAt: expiresIn === undefined ? undefined : expiryWithin(deps, room, now + expiresIn * 1000),
        pinMac: pin && macPin(secret, code, pin),
        name,
        extendMs: newExtension(changes, room, rules.longestLifetime),
        admittedBy: hasPin || salt !== undefined ? proofOf(deps, room, caller) : undefined,
        uploadLifetimeMs: unfinishedUploadMs,
      };
      const updated = orMissing(await rooms.updateRoom(code, update, now));
      if (updated !== 'pin-changed') return updated;
    }
    throw new PoproomError('UNAVAILABLE', 'The PIN of the room is being changed. Try again.', { retryAfter: 1 });
  }

  return {
    async create(newRoom: NewRoom, run?: KeyedRun<CreatedRoom>): Promise<CreatedRoom> {
      const { client, pin, expiresIn = rules.lifetime, name: rawName, history, encryption, createdBy } = newRoom;
      checkLifetime(expiresIn, rules.longestLifetime);
      const checkedPin = pin === undefined ? undefined : parsePin(pin);
      if (encryption && checkedPin) throw noPin();
      const name = encryption && rawName ? checkSealedMeta(rawName, 'room', 'name') : cleanRoomName(rawName);
      const proof = (draw: string) =>
        encryption ? Buffer.from(encryption.verifier, 'base64url') : checkedPin && macPin(secret, draw, checkedPin);
      const kind = encryption ? 'encrypted' : 'plain';
      const createdAt = clock();
      const extension = newRoom.extend === true && { extendMs: expiresIn * 1000 };
      const salt = encryption && { salt: encryption.salt };
      const settings = { expiresAt: createdAt + expiresIn * 1000, name, ...extension, ...salt };
      const created = { ...settings, hasPin: checkedPin !== undefined };
      const make = (draw: string, claimedLength?: number) => {
        const draft = {
          ...settings,
          ...{ draw, codeLengths: codeLengths[kind], createdAt, pinMac: proof(draw), keepsHistory: history },
          ...{ creator: client, owner: quota.ownerOf(client), createdBy, countsText: quota.countsTexts(client) },
          ...(claimedLength !== undefined && { claimedLength }),
        };
        return rooms.createRoom(draft, run?.record({ ...created, code: draw as RoomCode }));
      };
      const made = await drawUntilFree(kind, make, run);
      if (typeof made === 'string') return { ...created, code: made };
      const { code: draw, ...earlier } = made.result;
      return { ...earlier, code: draw.slice(0, made.codeLength) as RoomCode };
    },

    async info(caller: Caller): Promise<RoomWithDevices> {
      return withDevices(await admit(deps, caller, 'readRoom'));
    },

    async update(caller: Caller, changes: UpdateRoomRequest): Promise<RoomWithDevices> {
      const { seq, room } = await updateAdmitted(caller, checkChanges(changes, rules.longestLifetime));
      deps.bus.publish(room.code, { seq });
      return withDevices(room);
    },

    async remove(caller: Caller): Promise<RoomCode> {
      const { code } = await admit(deps, caller, 'changeRoom');
      orMissing(await end(code));
      return code;
    },

    /** Rejects a caller without access. A missing PIN is accepted here, because it may be in the body. */
    async checkCaller(caller: Caller, operation: RoomOperation): Promise<void> {
      try {
        await admit(deps, caller, operation);
      } catch (error) {
        if (!hasCode(error, 'PIN_REQUIRED')) throw error;
      }
    },

    /** For the operator; needs no PIN. */
    end,

    /** Rejects a caller that may not do this, without doing it. */
    access: (caller: Caller, operation: RoomOperation) => admit(deps, caller, operation),

    readContent: (caller: Caller) =>
      parseLinkId(caller.roomId) ? readByLink(caller) : admitToRead(deps, caller, sealedContentOf),

    writeContent(caller: Caller, content: string, ifVersions?: readonly number[], run?: KeyedRun<WrittenText>) {
      const { deviceId, client } = caller;
      const replacement = { content, bytes: checkContent(content, maxContentBytes), ifVersions, deviceId, client, run };
      return chain(admit(deps, caller, 'writeText', texts.prefetch), (room) =>
        changing(room, run, () => texts.replace(room.code, replacement)),
      );
    },

    async editContent(caller: Caller, edit: ContentEdit, run?: KeyedRun<WrittenText>): Promise<WrittenText> {
      const room = await admit(deps, caller, 'writeText', texts.prefetch);
      const { deviceId, client } = caller;
      return changing(room, run, () => texts.edit(room.code, { ...edit, deviceId, client, run }));
    },

    async compactContent(caller: Caller, snapshot: SealedSnapshot): Promise<WrittenText> {
      const { code } = await admit(deps, caller, 'writeText');
      return texts.compact(code, snapshot);
    },

    async listHistory(caller: Caller): Promise<CheckpointInfo[]> {
      const { code } = await admit(deps, caller, 'useHistory');
      return orMissing(await deps.texts.listHistory(code, clock()));
    },

    async readHistory(caller: Caller, version: number): Promise<Checkpoint> {
      const { code } = await admit(deps, caller, 'useHistory');
      const found = orMissing(await deps.texts.readCheckpoint(code, version, clock()));
      if (found === 'no-checkpoint')
        throw new PoproomError('NOT_FOUND', `The history has no version ${version}.`, {
          details: { field: 'version' },
        });
      return found;
    },

    async clearHistory(caller: Caller): Promise<void> {
      const { code } = await admit(deps, caller, 'useHistory');
      await texts.clearHistory(code);
    },

    texts,

    /** After a write of a live channel, which is confirmed before. Never rejects. */
    extend: (room: Room): Promise<void> => extendAfterWrite(deps, room),
  };
}

type CheckedChanges = ReturnType<typeof checkChanges>;

/** Fields that are undefined stay as they are; null removes the PIN or the name. */
function checkChanges({ expiresIn, extend, pin, name }: UpdateRoomRequest, longestLifetime: number) {
  if (expiresIn !== undefined) checkLifetime(expiresIn, longestLifetime);
  return {
    expiresIn,
    extend,
    pin: typeof pin === 'string' ? parsePin(pin) : pin,
    name: name === undefined || looksSealed(name) ? name : (cleanRoomName(name) ?? null),
  };
}

/** A room that moves its expiry with each write has a lifetime: the requested one, or the one from its creation on. */
function newExtension({ expiresIn, extend }: CheckedChanges, { createdAt, expiresAt, extendMs }: Room, max: number) {
  if (extend === false) return null;
  if (extend === undefined && extendMs === undefined) return undefined;
  if (expiresIn !== undefined) return expiresIn * 1000;
  return extendMs ?? Math.min(expiresAt - createdAt, max * 1000);
}

/** The server cannot clean a sealed name, and an encrypted room has a key instead of a PIN. */
function checkForRoom({ name, pin }: CheckedChanges, { salt }: Room): void {
  if (salt === undefined) {
    if (looksSealed(name)) cleanRoomName(name);
    return;
  }
  if (pin !== undefined) throw noPin();
  if (name) checkSealedMeta(name, 'room', 'name');
}

const noPin = () => invalidField('pin', 'An encrypted room cannot have a PIN. Its key protects it.');

type Make = (draw: string, claimedLength?: number) => ReturnType<RoomStore['createRoom']>;

/** A code in use is rare. Many in a row mean that the random source is broken. */
async function drawUntilFree(kind: RoomKind, make: Make, run: KeyedRun<CreatedRoom> | undefined) {
  let made = await make(drawSymbols(kind));
  for (let draws = 1; draws < 20; draws++) {
    if (typeof made === 'string') return made;
    if (!made || !run) made = await make(drawSymbols(kind));
    else if ('repeated' in made) return { result: run.replay(made.repeated), codeLength: made.repeated.codeLength };
    else made = await make(run.unseal(made.claimed).code, made.claimed.codeLength);
  }
  throw new PoproomError('INTERNAL', 'The server could not generate an unused room code.');
}
