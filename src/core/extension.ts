/** Rooms whose expiry moves with each write. */
import type { CoreDeps } from './deps.ts';
import { unfinishedUploadMs } from './limits.ts';
import type { Room } from './ports/basics.ts';

/** The expiry that a room gets by a change. */
export const expiryWithin = ({ longestAgeMs = Number.POSITIVE_INFINITY }: CoreDeps, { createdAt }: Room, end: number) =>
  Math.min(end, createdAt + longestAgeMs);

/** Waits for a write, and then for the expiry that it moves. */
export async function extending<T>(deps: CoreDeps, room: Room, write: Promise<T>): Promise<T> {
  const written = await write;
  await extendAfterWrite(deps, room);
  return written;
}

/** Never rejects: the write is stored. If this fails, the next write moves the expiry. */
export const extendAfterWrite = (deps: CoreDeps, room: Room): Promise<void> =>
  extendRoom(deps, room).catch(() => undefined);

/** Moving it takes several steps of the store, so it may be a minute, or a hundredth of the lifetime, earlier. */
async function extendRoom(deps: CoreDeps, room: Room): Promise<void> {
  const { rooms, bus, clock } = deps;
  const { code, expiresAt, extendMs } = room;
  if (extendMs === undefined) return;
  const now = clock();
  const later = expiryWithin(deps, room, now + extendMs);
  if (later - expiresAt < Math.min(60_000, extendMs / 100)) return;
  const update = { expiresAt: later, isExtension: true, admittedBy: undefined } as const;
  const updated = await rooms.updateRoom(code, { ...update, client: '', uploadLifetimeMs: unfinishedUploadMs }, now);
  if (typeof updated === 'object') bus.publish(code, { seq: updated.seq });
}
