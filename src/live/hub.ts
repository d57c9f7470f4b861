/** All live sessions of this node: admission, the feeds of their rooms, and heartbeats. */
import { randomBytes } from 'node:crypto';
import {
  type AdmittedRoom,
  admit,
  checkDeviceId,
  checkRight,
  deviceOfLink,
  linkMissing,
  proofOf,
} from '../core/admission.ts';
import { memoryLimits, UnreadBytes } from '../core/defence/transfer-budget.ts';
import { unlimitedWork } from '../core/defence/work.ts';
import type { CoreDeps } from '../core/deps.ts';
import { PoproomError, unavailable } from '../core/errors.ts';
import type { JoinRequest, TextWait } from '../core/live-gateway.ts';
import type { ClientId } from '../core/ports/basics.ts';
import type { Channel, Device, RoomChange, StoredLink } from '../core/ports/rooms.ts';
import type { RoomCode } from '../core/room-code.ts';
import type { Rooms } from '../core/rooms.ts';
import { checkDeviceName } from '../core/sealed.ts';
import { areOfSameRoom, createResumeTokens, type RoomTokens } from '../core/tokens.ts';
import { parseLinkId, parseRoomCode } from '../protocol/room-code.ts';
import { isEnvelope } from '../protocol/sealed.ts';
import { type MissedEdits, RoomFeed, sendMissed, upTo } from './room-feed.ts';
import { createLinkView, type LinkView } from './room-view.ts';
import { Session, type SessionDeps } from './session.ts';
import type { Wire } from './wire.ts';

export interface HubDeps {
  core: CoreDeps;
  rooms: Rooms;
  channelsPerClient: number;
  maxMessageBytes: number;
  /** The heartbeat interval. Rooms are read again and channels are renewed twice as often. */
  heartbeatMs: number;
  /** How many clients should reconnect per second if all of them lose their connections. */
  reconnectsPerSecond: number;
  /** Called when work in the background failed. */
  onFailure: (error: unknown, message: string) => void;
  /** Called when a message is answered with an error. */
  onRefusal?: (error: unknown) => void;
}

const devicesChanged: RoomChange = { seq: 0, devicesOnly: true };

/** How a joining client was admitted, and the changes that it has missed. */
type Joining = { missed: MissedEdits | undefined; admittedBy: string; linkView?: LinkView };

export type Hub = ReturnType<typeof createHub>;

/** After a shutdown, clients reconnect at random times within this period or a longer one, not all together. */
const reconnectWithinMs = 3000;

export function createHub(deps: HubDeps) {
  const { core, rooms, heartbeatMs, onFailure, onRefusal } = deps;
  const feeds = new Map<RoomCode, RoomFeed>();
  /** The number of reserved channels of each client. */
  const channels = new Map<ClientId, number>();
  const unread = new UnreadBytes(memoryLimits(deps.maxMessageBytes));
  const tokens = createResumeTokens(core.secret, core.clock);
  const { work = unlimitedWork } = core;
  const heartbeats = startHeartbeats(deps, feeds);
  /** 10 seconds with the default heartbeat. */
  const slowForMs = 0.4 * heartbeatMs;
  const missedDeps = { ...core, work, replacedSince: rooms.texts.replacedSince, slowForMs };
  const sessionDeps: SessionDeps = {
    rooms,
    slowForMs,
    unread,
    onLeave,
    onFallBehind: heartbeats.addSlow,
    reconnectWithin: heartbeats.reconnectWithin,
    onRefusal,
  };
  let isStopped = false;

  function rejectIfStopped(): void {
    if (isStopped) throw unavailable('The server is restarting.');
  }

  /** Calls `work` with the feed of a room, which is read after it has subscribed, so that no change is missed. */
  async function withFeed<T>(code: RoomCode, work: (feed: RoomFeed) => Promise<T>): Promise<T> {
    const feed = feeds.get(code) ?? new RoomFeed(code, core, heartbeats.firstRenewal(), tokens);
    feeds.set(code, feed);
    feed.entering += 1;
    try {
      await feed.refresh();
      return await work(feed);
    } finally {
      feed.entering -= 1;
      dropIfEmpty(feed);
    }
  }

  function rejectIfEnded({ ended }: RoomFeed): void {
    rejectIfStopped();
    if (ended === 'expired') throw new PoproomError('ROOM_EXPIRED', 'This room has expired.');
    if (ended === 'deleted') throw new PoproomError('ROOM_NOT_FOUND', 'This room was deleted.');
  }

  /** Clients that join and do not read would fill the memory. */
  function rejectIfFull({ view }: RoomFeed, client: ClientId): void {
    if (view.text.isLarge && unread.isFull(client))
      throw unavailable('The server is sending too much data at the moment.');
  }

  function dropIfEmpty(feed: RoomFeed): void {
    if (feed.isInUse || feed.entering > 0) return;
    feed.close();
    if (feeds.get(feed.code) === feed) feeds.delete(feed.code);
  }

  function onLeave(session: Session): void {
    const { feed, channel } = session.options;
    feed.sessions.delete(session);
    heartbeats.remove(session);
    dropIfEmpty(feed);
    core.rooms
      .detachDevice(feed.code, channel.id)
      .then(() => core.bus.publish(feed.code, devicesChanged))
      .catch((error) => onFailure(error, 'could not detach a device'));
  }

  function open(
    feed: RoomFeed,
    wire: Wire,
    channel: Channel,
    { caller, seq, edits, deviceChanges, carets = false, linkBase, linkTo }: JoinRequest,
    { missed, admittedBy, linkView }: Joining,
  ): Session {
    const textMode = edits || feed.view.text.sealed ? 'edits' : 'content';
    const devicesMode = deviceChanges ? 'changes' : 'list';
    const ofClient = { wire, client: caller.client, channel, linkBase, linkTo, admittedBy, linkView };
    const session = new Session({ ...ofClient, feed, textMode, devicesMode, showsCarets: carets }, sessionDeps);
    feed.sessions.add(session);
    heartbeats.add(session);
    const begin = () => session.begin({ seq, sent: missed?.sent ?? 0, missed: missed && upTo(feed.view, missed) });
    work.measure(caller.client, begin);
    core.bus.publish(feed.code, devicesChanged);
    return session;
  }

  /** A reader always gets a snapshot if it missed something: edits in the log name the devices of members. */
  function joinByLink(feed: RoomFeed, link: StoredLink, { id }: Device, given = id): Joining {
    if (!feed.hasLink(link)) throw linkMissing();
    return { missed: undefined, admittedBy: '', linkView: createLinkView(core, tokens, link, { id, given }) };
  }

  async function joinAsMember(feed: RoomFeed, wire: Wire, request: JoinRequest): Promise<Joining> {
    const admittedBy = await checkAdmission(core, tokens, feed, request);
    const receivesEdits = request.edits || feed.view.text.sealed;
    return { admittedBy, missed: receivesEdits ? await sendMissed(missedDeps, feed, wire, request) : undefined };
  }

  return {
    /** Reserves one channel of this client until it is released. Throws if the limit is reached. */
    reserve(client: ClientId): void {
      rejectIfStopped();
      const open = channels.get(client) ?? 0;
      const maximum = deps.channelsPerClient;
      if (open >= maximum) {
        const message = `You have reached the limit of ${maximum} live channels. Close one and try again.`;
        throw limitReached('channels', message, { maximum });
      }
      channels.set(client, open + 1);
    },

    /** Call this once for each reservation. */
    release(client: ClientId): void {
      const open = (channels.get(client) ?? 1) - 1;
      if (open > 0) channels.set(client, open);
      else channels.delete(client);
    },

    async join(wire: Wire, request: JoinRequest): Promise<Session> {
      const { caller, deviceName, deviceColor } = request;
      const id = randomBytes(12).toString('base64url');
      const deviceId = caller.deviceId === undefined ? `guest-${id}` : checkDeviceId(caller.deviceId);
      const { code, link } = await findRoom(core, request);
      const color = deviceColor !== undefined && { color: deviceColor };
      const preferred = { ...deviceOf(deviceId, deviceName, link), ...color };
      const device = await core.rooms.attachDevice(code, { id, device: preferred }, core.clock());
      if (device === 'full') throw limitReached('devices', 'This room has reached its device limit.');
      try {
        return await withFeed(code, async (feed) => {
          rejectIfEnded(feed);
          checkDeviceName(feed.view.room, deviceName);
          const joining = link
            ? joinByLink(feed, link, device, caller.deviceId)
            : await joinAsMember(feed, wire, request);
          rejectIfEnded(feed);
          rejectIfFull(feed, caller.client);
          return open(feed, wire, { id, device }, request, joining);
        });
      } catch (error) {
        await core.rooms.detachDevice(code, id);
        throw error;
      }
    },

    /** Waits until the text has a version that the client does not know, the room or the server ends, or it aborts. */
    async waitForText({ code, link, isKnown, signal }: TextWait): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => resolve());
      const stopWatching = await withFeed(code, async (feed) => {
        const watcher = () => {
          const isOver = isStopped || signal.aborted || feed.ended || (link && !feed.hasLink(link));
          if (isOver || !isKnown(feed.view.text.version)) resolve();
        };
        feed.watchers.add(watcher);
        watcher();
        return () => {
          feed.watchers.delete(watcher);
          dropIfEmpty(feed);
        };
      });
      await promise;
      stopWatching();
    },

    /** The number of sessions and of waiting requests, for the metrics. */
    size: () => [...feeds.values()].reduce((sum, { sessions, watchers }) => sum + sessions.size + watchers.size, 0),

    unreadBytes: () => unread.total,

    /** Asks all clients to reconnect after a moment. */
    stop(): void {
      isStopped = true;
      heartbeats.stop();
      const withinMs = Math.max(reconnectWithinMs, heartbeats.reconnectWithin());
      for (const feed of [...feeds.values()]) {
        feed.wakeWatchers();
        for (const session of [...feed.sessions]) {
          const reconnectAfter = Math.round(Math.random() * withinMs);
          session.end({ type: 'closed', reason: 'shutdown', reconnectAfter });
        }
      }
    },
  };
}

// The channel attaches the device. If the request attached it too, it would stay for a minute after leaving.
const admitToJoin = (core: CoreDeps, { caller }: JoinRequest) =>
  admit(core, { ...caller, deviceId: undefined }, 'followRoom');

/**
 * A resume token admits its client without the guards: others at its address may have used up the limits. A client with
 * a key and a plain name is admitted as usual, because an encrypted room must not store that name.
 */
async function findRoom(core: CoreDeps, request: JoinRequest): Promise<Pick<AdmittedRoom, 'code' | 'link'>> {
  const { caller, deviceName, resumeToken } = request;
  const linkId = resumeToken === undefined ? undefined : parseLinkId(caller.roomId);
  const resumedLink = linkId && (await core.links.findLink(linkId, core.clock()));
  if (resumedLink) {
    checkRight(resumedLink.link.role, 'followRoom');
    return resumedLink;
  }
  const hasPlainName = caller.auth !== undefined && deviceName !== undefined && !isEnvelope(deviceName, 'device');
  const resumed = resumeToken === undefined || hasPlainName ? undefined : parseRoomCode(caller.roomId);
  if (resumed) return { code: resumed };
  const room = await admitToJoin(core, request);
  checkDeviceName(room, deviceName);
  return room;
}

/** Members see a device with access by a link under its own name, or else under that of the link. */
function deviceOf(id: string, name: string | undefined, link: StoredLink | undefined): Device {
  if (!link) return { id, name };
  return { id: deviceOfLink(id), name: name ?? link.name, role: link.role };
}

/**
 * Returns a token of the room with the PIN that the client gave. A token of an earlier room with this code, or of an
 * earlier PIN, is not sufficient. Neither is a PIN that was changed after the client was admitted.
 */
async function checkAdmission(
  core: CoreDeps,
  tokens: RoomTokens,
  { view: { room, resumeToken: current } }: RoomFeed,
  request: JoinRequest,
): Promise<string> {
  const ofProof = () => tokens.issue({ room, pinMac: proofOf(core, room, request.caller) }).token;
  const ofOthers = () => request.resumeToken ?? (room.hasPin ? ofProof() : current);
  // In an encrypted room, a token does not replace the key.
  const given = room.salt === undefined ? ofOthers() : ofProof();
  if (areOfSameRoom(given, current)) return current;
  await admitToJoin(core, request);
  return ofProof();
}

function limitReached(reason: 'devices' | 'channels', message: string, more?: object): PoproomError {
  const retryAfter = 60;
  return new PoproomError('RATE_LIMITED', message, { retryAfter, details: { reason, retryAfter, ...more } });
}

const ticksPerHeartbeat = 25;

const longestSpreadMs = 30_000;

/** How long so many clients should spread their return over, in whole seconds; 0 for few, which may return soon. */
export const spreadFor = (channels: number, perSecond: number): number =>
  Math.min(longestSpreadMs, Math.round(channels / perSecond) * 1000);

function startHeartbeats(
  { core, heartbeatMs, reconnectsPerSecond, onFailure }: HubDeps,
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
    const held = [...feed.sessions].map(({ options }) => options.channel);
    if (held.length > 0) await core.rooms.renewDevices(feed.code, held, core.clock());
    await feed.refresh();
  }

  const ticking = setInterval(tick, heartbeatMs / ticksPerHeartbeat).unref();

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
