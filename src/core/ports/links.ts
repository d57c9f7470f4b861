/** Links: other ids for a room, with fewer rights than its code. */
import type { LinkRole } from '../../protocol/link-rights.ts';
import type { LinkId, RoomCode } from '../../protocol/room-code.ts';
import type { InRoom, MaybePromise, Room } from './basics.ts';
import type { AccessAttempt, Refusal } from './rooms.ts';

export type { LinkRole };

export interface StoredLink {
  id: LinkId;
  role: LinkRole;
  /** A name that members gave it, sealed in an encrypted room; undefined if it has none. */
  name: string | undefined;
  createdAt: number;
  /** Undefined if it ends with its room. */
  expiresAt: number | undefined;
  /** Updated at most once a minute; undefined if it was never used. */
  lastUsed: number | undefined;
}

export type RoomLink = { code: RoomCode; link: StoredLink };

/** An attempt to access a room by a link, which needs neither a PIN nor a key. */
export interface LinkAttempt extends Pick<AccessAttempt, 'client' | 'isCrossSite' | 'now'> {
  id: LinkId;
  /** The device that the request names. It is attached with the role and the name of the link. */
  deviceId: string | undefined;
}

export type LinkAdmission =
  | { outcome: 'admitted'; room: Room; link: StoredLink }
  | Extract<Refusal, { outcome: 'unknown' | 'expired' | 'too-many-misses' }>;

export interface LinkStore {
  /** Counts an unknown link as a miss, and attaches the device. */
  admit(attempt: LinkAttempt): MaybePromise<LinkAdmission>;
  /** Without the guards; undefined if the link is unknown, revoked or expired, or its room has ended. */
  findLink(id: LinkId, now: number): MaybePromise<RoomLink | undefined>;
  /** `full` if the room has `most` links that have not expired. */
  createLink(code: RoomCode, link: StoredLink, most: number, now: number): InRoom<'created' | 'full'>;
  /** Oldest first, without expired ones. */
  listLinks(code: RoomCode, now: number): InRoom<StoredLink[]>;
  /** Removes a link with its unfinished uploads. From now on it adds no file. */
  revokeLink(code: RoomCode, id: LinkId, now: number): InRoom<'revoked' | 'no-link'>;
  noteUse(code: RoomCode, id: LinkId, now: number): Promise<void>;
}

/** Whether a link has expired. Its room may end earlier. */
export const isExpired = ({ expiresAt }: Pick<StoredLink, 'expiresAt'>, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now;
