/** Links of a room with a role: create, list, revoke. */
import type { StoredLink } from '../../core/ports/links.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { createLinkRequest } from '../../protocol/schemas.ts';
import type { Confirmation, CreateLinkRequest, Link, LinkList } from '../../protocol/types.ts';
import { readCaller, readJson, smallBody } from '../request/parse-body.ts';
import { callerOf } from '../request/request.ts';
import { json } from '../response/reply.ts';
import { findOwnBase } from '../urls.ts';
import type { Handler, HandlerDeps } from './handler.ts';

export const linkHandlers = (deps: HandlerDeps) => ({
  createLink: createLink(deps),
  listLinks: listLinks(deps),
  revokeLink: revokeLink(deps),
});

const createLink =
  ({ roomLinks, links }: HandlerDeps): Handler =>
  async (request) => {
    const newLink = await readJson<CreateLinkRequest>(request, createLinkRequest, smallBody);
    const created = await roomLinks.create(callerOf(request), newLink);
    return json(201, linkOf(created, findOwnBase(request, links)) satisfies Link);
  };

const listLinks =
  ({ roomLinks, links }: HandlerDeps): Handler =>
  async (request) => {
    const base = findOwnBase(request, links);
    const listed = await roomLinks.list(callerOf(request));
    return json(200, { links: listed.map((link) => linkOf(link, base)) } satisfies LinkList);
  };

const revokeLink =
  ({ roomLinks }: HandlerDeps): Handler =>
  async (request) => {
    const caller = await readCaller(request);
    await roomLinks.revoke(caller, request.params.linkId ?? '');
    return json(200, { success: true, message: 'The link was revoked.' } satisfies Confirmation);
  };

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
