/** A simple model of rooms, which random operations are compared with. */
import type { MissingReason } from '../../src/core/ports/basics.ts';
import type { UnfinishedFile } from '../../src/core/ports/files.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import type { ModelText } from './model-text.ts';
import { day, type RoomStores } from './store-under-test.ts';

export interface ModelRoom {
  expiresAt: number;
  seq: number;
  text: ModelText;
  /** All that count, in the order in which they are listed. */
  files: ModelFile[];
}

export interface ModelFile {
  /** A finished file has all its bytes, and no state. */
  file: UnfinishedFile;
  status: 'listed' | 'removed' | 'unfinished' | 'erased' | 'cancelled';
  removedAt: number;
}

export interface Model {
  now: number;
  /** Deleted ones are not in it; expired ones stay. */
  rooms: Map<RoomCode, ModelRoom>;
  /** Every file that was ever taken. */
  everTaken: ModelFile[];
}

/** Some codes of its own for each run, few enough that operations meet. */
export interface Real {
  store: RoomStores;
  codes: RoomCode[];
}

export type Step = (model: Model, real: Real, code: RoomCode) => Promise<void>;

export function live(model: Model, code: RoomCode): ModelRoom | undefined {
  const room = model.rooms.get(code);
  return room && room.expiresAt > model.now ? room : undefined;
}

export function foreseen(model: Model, code: RoomCode) {
  const room = model.rooms.get(code);
  if (!room || room.expiresAt + day <= model.now) return 'unknown';
  if (room.expiresAt <= model.now) return 'expired';
  return { files: room.files.length, bytes: bytesIn(room), expiresAt: room.expiresAt };
}

export const absence = (model: Model, code: RoomCode): MissingReason =>
  foreseen(model, code) === 'expired' ? 'expired' : 'gone';

export function bytesIn({ files }: ModelRoom): number {
  return files.reduce((sum, { file: { size } }) => sum + size, 0);
}
