/** Rooms whose expiry moves with each write. */
import type { CoreDeps } from './deps.ts';
import { unfinishedUploadMs } from './limits.ts';
import type { Room } from './ports/basics.ts';

type ExtensionDeps = Pick<CoreDeps, 'rooms' | 'bus' | 'clock' | 'longestAgeMs'>;

/** The expiry that a room gets by a change. */
export const expiryWithin = (
  { longestAgeMs = Number.POSITIVE_INFINITY }: Pick<CoreDeps, 'longestAgeMs'>,
  { createdAt }: Pick<Room, 'createdAt'>,
  wanted: number,
): number => Math.min(wanted, createdAt + longestAgeMs);

/** Waits for a write, and then for the expiry that it moves. */
export async function extending<T>(deps: ExtensionDeps, room: Room, write: Promise<T>): Promise<T> {
  const written = await write;
  await extendAfterWrite(deps, room);
  return written;
}

/** Never rejects: the write is stored. If this fails, the next write moves the expiry. */
export async function extendAfterWrite(deps: ExtensionDeps, room: Room): Promise<void> {
  await extendRoom(deps, room).catch(() => undefined);
}

/**
 * Moves the expiry of a room after a write. Small steps are left out, because moving it takes several steps of the store:
 * the expiry may be a minute, or a hundredth of the lifetime, earlier than it would be.
 */
async function extendRoom(deps: ExtensionDeps, room: Room): Promise<void> {
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
