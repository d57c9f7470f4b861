/** All live sessions of this node: who may come in, the rooms they are in, the clock that beats for all of them. */
import { randomBytes } from 'node:crypto';
import { admit, checkDeviceId } from '../core/admission.ts';
import { PoproomError } from '../core/errors.ts';
import type { Visitor } from '../core/live-door.ts';
import type { Parts } from '../core/parts.ts';
import type { Channel, ClientId, Log } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import type { Rooms } from '../core/rooms.ts';
import { ChannelCount } from './channel-count.ts';
import { RoomFeed } from './room-feed.ts';
import { Session } from './session.ts';
import type { Wire } from './wire.ts';

export interface HubParts {
  parts: Parts;
  rooms: Rooms;
  channelsPerClient: number;
  /** How often sessions give a sign of life; rooms are read anew, and channels renewed, twice as often. */
  heartbeatMs: number;
  log: Log;
}

export type Hub = ReturnType<typeof createHub>;

const ticksPerBeat = 25;

/** Clients come back spread over this time, not all at once. */
const reconnectWithinMs = 3000;

export function createHub({ parts, rooms, channelsPerClient, heartbeatMs, log }: HubParts) {
  const feeds = new Map<RoomCode, RoomFeed>();
  const channels = new ChannelCount(channelsPerClient);
  const renewMs = heartbeatMs / 2;
  /** 10 seconds, as hearts usually beat. */
  const slowForMs = 0.4 * heartbeatMs;
  /** Whose heart beats at which tick: most of them have nothing to do at most ticks, and there may be many. */
  const beats: Set<Session>[] = Array.from({ length: ticksPerBeat }, () => new Set());
  const behind = new Set<Session>();
  let ticks = 0;
  let stopped = false;

  function refuseWhenStopped(): void {
    if (stopped)
      throw new PoproomError('UNAVAILABLE', 'The server is restarting; come back in a moment.', { retryAfter: 2 });
  }

  /** Works with the feed of a room, read after it began to listen: nothing falls in between. */
  async function withFeed<T>(code: RoomCode, work: (feed: RoomFeed) => T): Promise<T> {
    const feed = feeds.get(code) ?? new RoomFeed(code, parts, performance.now() + renewMs);
    feeds.set(code, feed);
    feed.entering += 1;
    try {
      await feed.refresh();
      refuseWhenStopped();
      if (feed.ended === 'expired') throw new PoproomError('ROOM_EXPIRED', 'This room has expired.');
      if (feed.ended === 'deleted') throw new PoproomError('ROOM_NOT_FOUND', 'This room was deleted.');
      return work(feed);
    } finally {
      feed.entering -= 1;
      dropIfEmpty(feed);
    }
  }

  function dropIfEmpty(feed: RoomFeed): void {
    if (feed.sessions.size + feed.entering > 0) return;
    feed.close();
    if (feeds.get(feed.code) === feed) feeds.delete(feed.code);
  }

  async function attach(code: RoomCode, channel: Channel): Promise<void> {
    const attached = await parts.rooms.attachDevice(code, channel, parts.clock());
    if (attached === 'full') {
      throw new PoproomError('RATE_LIMITED', 'As many devices as may be are in this room.', {
        retryAfter: 60,
        details: { reason: 'devices', retryAfter: 60 },
      });
    }
  }

  function left(session: Session, feed: RoomFeed): void {
    for (const those of [feed.sessions, behind, ...beats]) those.delete(session);
    dropIfEmpty(feed);
    parts.rooms
      .detachDevice(feed.code, session.channel.id)
      .then(() => parts.bus.publish(feed.code, feed.view.seq))
      .catch((err) => log.warn({ err }, 'a device could not be detached'));
  }

  function tick(): void {
    const now = performance.now();
    ticks += 1;
    for (const session of beats[ticks % ticksPerBeat] ?? []) session.beat();
    for (const session of behind) if (session.catchUp(now)) behind.delete(session);
    for (const feed of feeds.values()) {
      if (feed.sessions.size === 0) continue;
      if (feed.view.room.expiresAt <= parts.clock()) expire(feed);
      if (now >= feed.renewAt) {
        feed.renewAt = now + renewMs;
        renew(feed).catch((err) => log.warn({ err }, 'a room could not be read anew'));
      }
    }
  }

  /** Whoever reads a room past its time ends it: told that it is over, a device must not find it back with the clock. */
  function expire(feed: RoomFeed): void {
    feed.end({ type: 'closed', reason: 'expired' });
    parts.rooms
      .readState(feed.code, parts.clock())
      .catch((err) => log.warn({ err }, 'a room past its time could not be ended yet'));
  }

  /** What the bus may have lost, and the devices of this node for the other nodes. */
  async function renew(feed: RoomFeed): Promise<void> {
    const held = [...feed.sessions].map(({ channel }) => channel);
    await parts.rooms.renewDevices(feed.code, held, parts.clock());
    await feed.refresh();
  }

  const ticking = setInterval(tick, heartbeatMs / ticksPerBeat);
  ticking.unref();

  return {
    /** Takes a place among the client's channels, until it is given back; refuses when there is none. */
    reserve(client: ClientId): () => void {
      refuseWhenStopped();
      return channels.take(client);
    },

    async join(wire: Wire, { caller, deviceName, seq, linkBase, linkTo }: Visitor): Promise<Session> {
      const id = randomBytes(12).toString('base64url');
      const deviceId = caller.deviceId === undefined ? `guest-${id}` : checkDeviceId(caller.deviceId);
      const channel = { id, device: { id: deviceId, name: deviceName } };
      // The channel says that the device is there; noted as a request too, it would stay for a minute after leaving.
      const { code } = await admit(parts, { ...caller, deviceId: undefined });
      await attach(code, channel);
      try {
        return await withFeed(code, (feed) => {
          const session: Session = new Session({
            wire,
            feed,
            channel,
            rooms,
            linkBase,
            linkTo,
            slowForMs,
            left: () => left(session, feed),
            fellBehind: () => void behind.add(session),
          });
          feed.sessions.add(session);
          beats[ticks % ticksPerBeat]?.add(session);
          session.begin(seq);
          parts.bus.publish(code, feed.view.seq);
          return session;
        });
      } catch (error) {
        await parts.rooms.detachDevice(code, id);
        throw error;
      }
    },

    /** How many sessions there are, for the figures. */
    size: () => [...feeds.values()].reduce((sum, { sessions }) => sum + sessions.size, 0),

    /** Tells everyone to come back in a moment. */
    stop(): void {
      stopped = true;
      clearInterval(ticking);
      for (const feed of [...feeds.values()]) {
        for (const session of [...feed.sessions]) {
          const reconnectAfter = Math.round(Math.random() * reconnectWithinMs);
          session.end({ type: 'closed', reason: 'shutdown', reconnectAfter });
        }
      }
    },
  };
}
