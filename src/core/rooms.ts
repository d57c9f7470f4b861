/** Making rooms, looking at them, ending them, and the text inside. */
import { admit, admitToRead, type Caller, roomOver } from './admission.ts';
import { PoproomError } from './errors.ts';
import { shortestLifetimeSeconds } from './limits.ts';
import type { Parts } from './parts.ts';
import { macPin, parsePin } from './pin.ts';
import type { ClientId, Content, Room, Soon } from './ports.ts';
import { codeLengths, drawSymbols, type RoomCode } from './room-code.ts';
import { trashOf } from './trash.ts';

export interface RoomRules {
  /** Seconds. */
  lifetime: number;
  longestLifetime: number;
  /** Bytes of UTF-8. */
  largestContent: number;
}

export interface NewRoom {
  client: ClientId;
  pin: string | undefined;
  /** Seconds; undefined takes the server's usual lifetime. */
  expiresIn: number | undefined;
}

export type Written = { outcome: 'written'; seq: number; content: Content } | { outcome: 'conflict'; current: Content };

export type Rooms = ReturnType<typeof createRooms>;

export function createRooms(parts: Parts, rules: RoomRules) {
  const { rooms, bus, clock, secret } = parts;
  return {
    async create({ client, pin, expiresIn = rules.lifetime }: NewRoom) {
      checkLifetime(expiresIn, rules.longestLifetime);
      const checkedPin = pin === undefined ? undefined : parsePin(pin);
      const createdAt = clock();
      const expiresAt = createdAt + expiresIn * 1000;
      const code = await drawUntilFree((draw) =>
        rooms.createRoom({
          draw,
          codeLengths,
          createdAt,
          expiresAt,
          pinMac: checkedPin && macPin(secret, draw, checkedPin),
          creator: client,
        }),
      );
      return { code, expiresAt, hasPin: checkedPin !== undefined };
    },

    async info(caller: Caller): Promise<Room & { deviceCount: number }> {
      const room = await admit(parts, caller);
      const devices = await rooms.listDevices(room.code, clock());
      return { ...room, deviceCount: devices.length };
    },

    async remove(caller: Caller): Promise<RoomCode> {
      const { code } = await admit(parts, caller);
      const deleted = await rooms.deleteRoom(code, clock());
      if (typeof deleted === 'string') throw roomOver(deleted);
      bus.publish(code, deleted.seq);
      await trashOf(parts).emptySoon();
      return code;
    },

    readContent: (caller: Caller): Soon<Content> => admitToRead(parts, caller),

    async writeContent(caller: Caller, content: string, ifVersions: readonly number[] | undefined): Promise<Content> {
      checkContent(content, rules.largestContent);
      const { code } = await admit(parts, caller);
      const written = await write(code, content, ifVersions);
      if (written.outcome === 'conflict') throw versionConflict(written.current);
      return written.content;
    },

    /** For a device that is in the room already. */
    async writeFromInside(code: RoomCode, content: string, baseVersion: number): Promise<Written> {
      checkContent(content, rules.largestContent);
      return write(code, content, [baseVersion]);
    },
  };

  async function write(code: RoomCode, content: string, ifVersions: readonly number[] | undefined): Promise<Written> {
    const now = clock();
    const write = await rooms.writeContent(code, { content, ifVersions, now });
    if (write.outcome === 'conflict') return write;
    if (write.outcome !== 'written') throw roomOver(write.outcome);
    bus.publish(code, write.seq);
    return { outcome: 'written', seq: write.seq, content: { content, version: write.version, writtenAt: now } };
  }
}

/** A taken code is a one in millions event; many in a row mean that the random source is broken. */
async function drawUntilFree(make: (draw: string) => Promise<RoomCode | undefined>): Promise<RoomCode> {
  for (let draws = 0; draws < 20; draws++) {
    const code = await make(drawSymbols());
    if (code) return code;
  }
  throw new PoproomError('INTERNAL', 'No free room code could be drawn.');
}

function checkLifetime(seconds: number, longest: number): void {
  if (Number.isInteger(seconds) && seconds >= shortestLifetimeSeconds && seconds <= longest) return;
  throw new PoproomError(
    'VALIDATION_FAILED',
    `"expiresIn" must be a whole number of seconds from ${shortestLifetimeSeconds} to ${longest}.`,
    { details: { field: 'expiresIn', minimum: shortestLifetimeSeconds, maximum: longest } },
  );
}

function checkContent(content: string, largest: number): void {
  if (!content.isWellFormed()) {
    throw new PoproomError('VALIDATION_FAILED', '"content" contains half of a surrogate pair, which is not text.', {
      details: { field: 'content' },
    });
  }
  if (Buffer.byteLength(content) > largest) throw contentTooLarge(largest);
}

export function contentTooLarge(largest: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The text may have at most ${largest} bytes of UTF-8.`, {
    details: { maximum: largest },
  });
}

function versionConflict(current: Content): PoproomError {
  return new PoproomError('VERSION_CONFLICT', 'Someone else changed the text meanwhile; nothing was overwritten.', {
    details: {
      content: current.content,
      version: current.version,
      timestamp: new Date(current.writtenAt).toISOString(),
    },
  });
}
