/** Links with a role: members create, list and revoke them; and what their holders see of a room. */
import { createHmac } from 'node:crypto';
import { maxNameLength } from '../protocol/limits.ts';
import { maxLinksPerRoom } from '../protocol/link-rights.ts';
import { type LinkId, parseLinkId } from '../protocol/room-code.ts';
import type { CreateLinkRequest } from '../protocol/types.ts';
import { admit, type Caller } from './admission.ts';
import type { CoreDeps } from './deps.ts';
import { orMissing, PoproomError } from './errors.ts';
import { checkLifetime } from './limits.ts';
import type { Room } from './ports/basics.ts';
import type { StoredFile } from './ports/files.ts';
import type { StoredLink } from './ports/rooms.ts';
import { drawLinkId } from './room-code.ts';
import { checkSealedMeta, cleanRoomName } from './sealed.ts';
import { trashOf } from './sweep.ts';

export type Links = ReturnType<typeof createLinks>;

export function createLinks(deps: CoreDeps, longestLifetime: number) {
  const { links, bus, clock } = deps;

  return {
    async create(caller: Caller, { role, name, expiresIn }: CreateLinkRequest): Promise<StoredLink> {
      if (expiresIn !== undefined) checkLifetime(expiresIn, longestLifetime);
      const room = await admit(deps, caller, 'manageLinks');
      const now = clock();
      const link: StoredLink = {
        id: drawLinkId(room.salt === undefined ? 'plain' : 'encrypted'),
        role,
        name: nameIn(room, name),
        createdAt: now,
        expiresAt: expiresIn === undefined ? undefined : now + expiresIn * 1000,
        lastUsed: undefined,
      };
      const created = orMissing(await links.createLink(room.code, link, maxLinksPerRoom, now));
      if (created === 'full') {
        const message = `This room has reached its limit of ${maxLinksPerRoom} links. Revoke one and try again.`;
        throw new PoproomError('TOO_MANY_LINKS', message, { details: { maximum: maxLinksPerRoom } });
      }
      return link;
    },

    async list(caller: Caller): Promise<StoredLink[]> {
      const { code } = await admit(deps, caller, 'manageLinks');
      return orMissing(await links.listLinks(code, clock()));
    },

    /** Ends its live channels on all nodes, and its uploads. */
    async revoke(caller: Caller, linkId: string): Promise<void> {
      const { code } = await admit(deps, caller, 'manageLinks');
      const id = parseLinkId(linkId);
      const revoked = id ? orMissing(await links.revokeLink(code, id, clock())) : 'no-link';
      if (revoked === 'no-link')
        throw new PoproomError('NOT_FOUND', 'This room has no such link.', { details: { field: 'linkId' } });
      bus.publish(code, { seq: 0 });
      await trashOf(deps).emptySoon();
    },

    /** The room of a link, without the guards: only for a caller that is admitted later, or has a genuine token. */
    find: async (id: LinkId) => links.findLink(id, clock()),
  };
}

/** Like the name of a device, because members see its devices by it. Sealed in an encrypted room. */
function nameIn({ salt }: Room, name: string | null | undefined): string | undefined {
  return salt !== undefined && name
    ? checkSealedMeta(name, 'device', 'name')
    : cleanRoomName(name, maxNameLength.device);
}

/** The room as the holder of a link sees it. A drop link shows only its own name, and not even that if it is sealed. */
export function seenByLink<R extends Room & { deviceCount: number }>(room: R, link: StoredLink): R {
  const expiresAt = Math.min(room.expiresAt, link.expiresAt ?? room.expiresAt);
  const visible = { ...room, expiresAt, hasPin: false };
  if (link.role === 'read') return visible;
  const name = room.salt === undefined ? link.name : undefined;
  return { ...visible, name, deviceCount: 0, fileCount: 0, fileBytes: 0 };
}

/** Replaces the ids of devices for the holders of a link: they tell devices apart, and are of no use elsewhere. */
export function aliasFor({ secret }: Pick<CoreDeps, 'secret'>, link: LinkId): (deviceId: string) => string {
  const key = createHmac('sha256', secret).update(`aliases of link\n${link}`).digest();
  return (deviceId) => createHmac('sha256', key).update(deviceId).digest('base64url').slice(0, 16);
}

/** The same for the devices of files. */
export function filesSeenByLink(deps: CoreDeps, files: StoredFile[], link: StoredLink): StoredFile[] {
  const aliasOf = aliasFor(deps, link.id);
  return files.map((file) => ({ ...file, deviceId: file.deviceId === undefined ? undefined : aliasOf(file.deviceId) }));
}

/** For tokens, which name a link instead of the code, and end with it. */
export const tokenRoomOf = ({ id: code, createdAt }: StoredLink) => ({ room: { code, createdAt }, pinMac: undefined });
