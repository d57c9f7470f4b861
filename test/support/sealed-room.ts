/** An encrypted room as its clients use it, with the real encryption. */
import assert from 'node:assert/strict';
import { encodeBase64url } from '../../src/client/crypto/base64url.ts';
import {
  authToken,
  createSalt,
  deriveKeys,
  type EncryptedRoom,
  type RoomKeys,
  verifierOf,
} from '../../src/client/crypto/keys.ts';
import { createFileSalt, sealFileMetadata } from '../../src/client/crypto/metadata.ts';
import { generateRoomKey } from '../../src/client/crypto/room-key.ts';
import {
  advanceChain,
  chainStart,
  openEdits,
  openText,
  sealEdits,
  sealSnapshot,
  sealText,
} from '../../src/client/crypto/text-chain.ts';
import type { RoomCode } from '../../src/protocol/room-code.ts';
import type { SeenVersion } from '../../src/protocol/sealed.ts';
import type { RoomText, SealedEdit, TextEdit } from '../../src/protocol/types.ts';
import { rebase, toChanges, toEdits } from '../../src/text/changes.ts';
import { applyEdits, insertsBefore } from '../../src/text/edits.ts';
import type { createApi, RequestOptions } from './api.ts';

type Api = ReturnType<typeof createApi>;

interface KeyMaterial {
  salt: string;
  keys: RoomKeys;
}

export interface SealedRoom extends EncryptedRoom {
  /** The value of X-Room-Auth. */
  auth: string;
  salt: string;
  /** Options of every request to the room. */
  access: { headers: { 'x-room-auth': string } };
}

/** Deriving keys takes long, so all rooms of a test process share them. */
let shared: Promise<KeyMaterial> | undefined;

async function createKeys(): Promise<KeyMaterial> {
  const salt = createSalt();
  return { salt: encodeBase64url(salt), keys: await deriveKeys(generateRoomKey(), salt) };
}

export async function encryption(): Promise<{ scheme: 'pop1'; salt: string; verifier: string }> {
  shared ??= createKeys();
  const { salt, keys } = await shared;
  return { scheme: 'pop1', salt, verifier: verifierOf(keys) };
}

export async function createSealedRoom(
  api: Api,
  json: { expiresIn?: number; history?: boolean } = {},
  options: RequestOptions = {},
): Promise<SealedRoom> {
  const code = (await api.room({ ...json, encryption: await encryption() }, options)) as RoomCode;
  assert.ok(code, 'the room should be created');
  return sealedRoom(code);
}

/** A room that exists. */
export async function sealedRoom(code: RoomCode): Promise<SealedRoom> {
  shared ??= createKeys();
  const { salt, keys } = await shared;
  const auth = authToken(keys) ?? '';
  return { code, keys, auth, salt, access: { headers: { 'x-room-auth': auth } } };
}

/** The sealed metadata of a file, and its salt. */
export function sealedFile(room: SealedRoom, name: string, size: number): { meta: string; salt: Uint8Array } {
  const salt = createFileSalt();
  return { meta: sealFileMetadata(room, { name, type: 'text/plain', folder: 'secret', size, salt }), salt };
}

/** The text of an encrypted room on one device. It fails if the chain of versions is broken. */
export class SealedReplica {
  readonly room: SealedRoom;
  text = '';
  position: SeenVersion = chainStart;

  constructor(room: SealedRoom) {
    this.room = room;
  }

  get version(): number {
    return this.position.version;
  }

  /** A text as `GET …/content`, snapshots and `content` messages contain it. */
  load({ content, contentVersion = 0, sealedEdits = [], version }: Omit<RoomText, 'timestamp'>): void {
    if (contentVersion === 0) {
      if (this.version > 0) assert.fail('the text went back to version 0');
    } else if (contentVersion >= this.version) {
      const { text, link } = openText(this.room, contentVersion, content);
      this.position = advanceChain(this.version === 0 ? undefined : this.position, link);
      this.text = text;
    }
    for (const edit of sealedEdits) this.apply(edit);
    assert.equal(this.version, version, 'the edits should lead to the current version');
  }

  /** Returns the edits of a new version; undefined for a known one. */
  apply({ version, sealed }: Pick<SealedEdit, 'version' | 'sealed'>): TextEdit[] | undefined {
    if (version <= this.version) return undefined;
    const { edits, link } = openEdits(this.room, version, sealed);
    this.position = advanceChain(this.position, link);
    this.text = applyEdits(this.text, edits);
    return edits;
  }

  seal(edits: readonly TextEdit[]): { sealed: string; baseVersion: number } {
    return { sealed: sealEdits(this.room, this.position, edits), baseVersion: this.version };
  }

  insert(text: string, at = this.text.length): { sealed: string; baseVersion: number } {
    return this.seal([{ from: at, to: at, insert: text }]);
  }

  replace(text: string): { content: string; baseVersion: number } {
    return { content: sealText(this.room, this.position, text), baseVersion: this.version };
  }

  snapshot(): { content: string; version: number } {
    return { content: sealSnapshot(this.room, this.position, this.text), version: this.version };
  }

  /** Applies the edits of others, and returns mine rebased over them. */
  rebase(mine: readonly TextEdit[], newer: readonly SealedEdit[], deviceId: string): TextEdit[] {
    let changes = toChanges(mine, this.text.length);
    for (const edit of newer) {
      const { length } = this.text;
      const theirs = this.apply(edit);
      if (theirs) changes = rebase(changes, toChanges(theirs, length), insertsBefore(deviceId, edit.deviceId)).mine;
    }
    return toEdits(changes);
  }
}

export async function readSealed(api: Api, room: SealedRoom): Promise<SealedReplica> {
  const replica = new SealedReplica(room);
  replica.load((await api.get(`/api/rooms/${room.code}/content`, room.access)).json);
  return replica;
}
