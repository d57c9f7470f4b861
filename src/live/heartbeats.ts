/** Periodic work for all sessions of a node: heartbeats, slow readers, renewal of devices, expiry of rooms. */
import type { CoreDeps } from '../core/deps.ts';
import type { RoomCode } from '../core/room-code.ts';
import type { RoomFeed } from './room-feed.ts';
import type { Session } from './session.ts';

export interface HeartbeatDeps {
  core: Pick<CoreDeps, 'rooms' | 'clock'>;
  /** The heartbeat interval. Rooms are read again and channels are renewed twice as often. */
  heartbeatMs: number;
  /** How many clients should reconnect per second if all of them lose their connections. */
  reconnectsPerSecond: number;
  /** Called when work in the background failed. */
  onFailure: (error: unknown, message: string) => void;
}

const ticksPerHeartbeat = 25;

const longestSpreadMs = 30_000;

/**
 * The time over which so many clients should spread if they lose their connections together, in whole seconds; 0 for
 * few clients, which should return soon.
 */
export const spreadFor = (channels: number, perSecond: number): number =>
  Math.min(longestSpreadMs, Math.round(channels / perSecond) * 1000);

export function startHeartbeats(
  { core, heartbeatMs, reconnectsPerSecond, onFailure }: HeartbeatDeps,
  feeds: ReadonlyMap<RoomCode, RoomFeed>,
) {
  const renewMs = heartbeatMs / 2;
  /** Sessions by the tick of their heartbeat, so that each tick handles only some of them. */
  const slots: Set<Session>[] = Array.from({ length: ticksPerHeartbeat }, () => new Set());
  const slowSessions = new Set<Session>();
  const expiring = new Set<RoomFeed>();
  let ticks = 0;
  let spreadMs = 0;

  function tick(): void {
    const now = performance.now();
    ticks += 1;
    const channels = slots.reduce((sum, { size }) => sum + size, 0);
    spreadMs = spreadFor(channels, reconnectsPerSecond);
    for (const session of slots[ticks % ticksPerHeartbeat] ?? []) session.sendHeartbeat();
    for (const session of slowSessions) if (session.catchUp(now)) slowSessions.delete(session);
    for (const feed of feeds.values()) {
      if (!feed.isInUse) continue;
      if (feed.view.room.expiresAt <= core.clock()) endIfExpired(feed);
      if (feed.view.links.length > 0) feed.endLinks();
      if (now >= feed.renewAt) {
        feed.renewAt = now + renewMs;
        renew(feed).catch((error) => onFailure(error, 'could not read a room again'));
      }
    }
  }

  /**
   * The room may have been extended, and the message about it lost, so it is read first. Reading an expired room ends
   * it for good, so that it stays ended if the clock is set back. If reading fails, the next tick tries again.
   */
  function endIfExpired(feed: RoomFeed): void {
    if (expiring.has(feed)) return;
    expiring.add(feed);
    feed
      .refresh()
      .catch((error) => onFailure(error, 'could not end an expired room yet'))
      .finally(() => expiring.delete(feed));
  }

  /** Renews the devices of this node for other nodes, and reads what the bus may have lost. */
  async function renew(feed: RoomFeed): Promise<void> {
    const held = [...feed.sessions].map(({ channel }) => channel);
    if (held.length > 0) await core.rooms.renewDevices(feed.code, held, core.clock());
    await feed.refresh();
  }

  const ticking = setInterval(tick, heartbeatMs / ticksPerHeartbeat);
  ticking.unref();

  return {
    add: (session: Session) => void slots[ticks % ticksPerHeartbeat]?.add(session),
    /** The session is behind and receives the latest state when it can. */
    addSlow: (session: Session) => void slowSessions.add(session),

    remove(session: Session): void {
      slowSessions.delete(session);
      for (const slot of slots) slot.delete(session);
    },

    /** For clients that lose their connections: see {@link spreadFor}. */
    reconnectWithin: () => spreadMs,

    /** When a feed that starts now is renewed for the first time. */
    firstRenewal: () => performance.now() + renewMs,
    stop: () => clearInterval(ticking),
  };
}
