/** Webhooks of a room: create, list, delete. */
import { toTimestamp } from '../../core/timestamp.ts';
import type { WebhookInfo } from '../../core/webhooks/webhooks.ts';
import { createWebhookRequest } from '../../protocol/schemas.ts';
import type { CreateWebhookRequest, WebhookCreated, WebhookEntry, WebhookList } from '../../protocol/types.ts';
import { readJson } from '../request/parse-body.ts';
import { callerOf } from '../request/request.ts';
import { json } from '../response/reply.ts';
import { ownBase } from '../urls.ts';
import { confirmed, type HandlerDeps, type Handlers } from './handler.ts';

export const webhookHandlers = ({ webhooks, links }: HandlerDeps) =>
  ({
    async createWebhook(request) {
      const base = ownBase(request, links);
      const { url, events, pin } = await readJson<CreateWebhookRequest>(request, createWebhookRequest);
      const { secret, ...created } = await webhooks.create(callerOf(request, pin), { url, events, base });
      return json(201, { ...entryOf(created), secret } satisfies WebhookCreated);
    },

    async listWebhooks(request) {
      const list = await webhooks.list(callerOf(request));
      return json(200, { webhooks: list.map(entryOf) } satisfies WebhookList);
    },

    deleteWebhook: confirmed('The webhook was deleted.', (caller, { webhookId = '' }) =>
      webhooks.remove(caller, webhookId),
    ),
  }) satisfies Partial<Handlers>;

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
