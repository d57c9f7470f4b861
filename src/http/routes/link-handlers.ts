/** Links of a room with a role: create, list, revoke. */
import type { StoredLink } from '../../core/ports/links.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { createLinkRequest } from '../../protocol/schemas.ts';
import type { CreateLinkRequest, Link, LinkList } from '../../protocol/types.ts';
import { readJson } from '../request/parse-body.ts';
import { callerOf } from '../request/request.ts';
import { json } from '../response/reply.ts';
import { findOwnBase } from '../urls.ts';
import { confirmed, type HandlerDeps, type Handlers } from './handler.ts';

export const linkHandlers = ({ roomLinks, links }: HandlerDeps) =>
  ({
    async createLink(request) {
      const newLink = await readJson<CreateLinkRequest>(request, createLinkRequest);
      const created = await roomLinks.create(callerOf(request), newLink);
      return json(201, linkOf(created, findOwnBase(request, links)));
    },

    async listLinks(request) {
      const base = findOwnBase(request, links);
      const listed = await roomLinks.list(callerOf(request));
      return json(200, { links: listed.map((link) => linkOf(link, base)) } satisfies LinkList);
    },

    revokeLink: confirmed('The link was revoked.', (caller, { linkId = '' }) => roomLinks.revoke(caller, linkId)),
  }) satisfies Partial<Handlers>;

function linkOf({ id, role, name, createdAt, expiresAt, lastUsed }: StoredLink, base: string | undefined): Link {
  return {
    linkId: id,
    role,
    ...(base !== undefined && { link: `${base}/r/${id}` }),
    ...(name !== undefined && { name }),
    createdAt: toTimestamp(createdAt),
    ...(expiresAt !== undefined && { expiresAt: toTimestamp(expiresAt) }),
    ...(lastUsed !== undefined && { lastUsed: toTimestamp(lastUsed) }),
  };
}
