/** Webhooks of a room: create, list, delete. */
import { toTimestamp } from '../../core/timestamp.ts';
import type { WebhookInfo } from '../../core/webhooks/webhooks.ts';
import { createWebhookRequest } from '../../protocol/schemas.ts';
import type {
  Confirmation,
  CreateWebhookRequest,
  WebhookCreated,
  WebhookEntry,
  WebhookList,
} from '../../protocol/types.ts';
import { readCaller, readJson, smallBody } from '../request/parse-body.ts';
import { callerOf } from '../request/request.ts';
import { json } from '../response/reply.ts';
import { ownBase } from '../urls.ts';
import type { Handler, HandlerDeps } from './handler.ts';

export const webhookHandlers = (deps: HandlerDeps) => ({
  createWebhook: createWebhook(deps),
  listWebhooks: listWebhooks(deps),
  deleteWebhook: deleteWebhook(deps),
});

const createWebhook =
  ({ webhooks, links }: HandlerDeps): Handler =>
  async (request) => {
    const base = ownBase(request, links);
    const { url, events, pin } = await readJson<CreateWebhookRequest>(request, createWebhookRequest, smallBody);
    const { secret, ...created } = await webhooks.create(callerOf(request, pin), { url, events, base });
    return json(201, { ...entryOf(created), secret } satisfies WebhookCreated);
  };

const listWebhooks =
  ({ webhooks }: HandlerDeps): Handler =>
  async (request) => {
    const list = await webhooks.list(callerOf(request));
    return json(200, { webhooks: list.map(entryOf) } satisfies WebhookList);
  };

const deleteWebhook =
  ({ webhooks }: HandlerDeps): Handler =>
  async (request) => {
    await webhooks.remove(await readCaller(request), request.params.webhookId ?? '');
    return json(200, { success: true, message: 'The webhook was deleted.' } satisfies Confirmation);
  };

function entryOf({ id, host, events, createdAt, lastDeliveredAt, lastError }: WebhookInfo): WebhookEntry {
  return {
    ...{ id, host, events: [...events], createdAt: toTimestamp(createdAt) },
    ...(lastDeliveredAt !== undefined && { lastDelivery: toTimestamp(lastDeliveredAt) }),
    ...(lastError && { lastError: errorOf(lastError) }),
  };
}

/** A document of an earlier version has no code. */
function errorOf({ at, code = 'CONNECTION', message, status }: NonNullable<WebhookInfo['lastError']>) {
  return { timestamp: toTimestamp(at), code, message, ...(status !== undefined && { status }) };
}
