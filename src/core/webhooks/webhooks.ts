/** The webhooks of a room: members create, list and remove them. */
import { randomBytes } from 'node:crypto';
import { admit, type Caller } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import { invalidField, orMissing, PoproomError } from '../errors.ts';
import type { WebhookSender, WebhookStore } from '../ports/webhooks.ts';
import type { RoomCode } from '../room-code.ts';
import { createDispatcher, type DispatcherOptions } from './dispatcher.ts';
import {
  createWebhookDocuments,
  seenRoom,
  type Webhook,
  type WebhookDocument,
  type WebhookEvent,
  wants,
  webhookSecret,
} from './document.ts';

const maxPerRoom = 5;
const maxUrlLength = 2048;

/** Unchecked input. */
export interface NewWebhook {
  url: string;
  /** All if undefined. */
  events: readonly WebhookEvent[] | undefined;
  /** The URL of the server as the caller reaches it. */
  base: string;
}

/** The public part of a webhook. The rest of its URL may contain a token. */
export interface WebhookInfo extends Pick<Webhook, 'id' | 'events' | 'createdAt' | 'lastDeliveredAt' | 'lastError'> {
  host: string;
}

type WebhooksDeps = DispatcherOptions & { core: CoreDeps & { webhooks: WebhookStore }; sender: WebhookSender };

export type Webhooks = ReturnType<typeof createWebhooks>;

const allEvents: readonly WebhookEvent[] = ['text', 'file', 'device', 'room'];

export function createWebhooks({ core, sender, ...options }: WebhooksDeps) {
  const { clock, secret } = core;
  const documents = createWebhookDocuments(core);
  const dispatcher = createDispatcher({ core, documents, sender }, options);

  /** The state from which changes are reported. */
  async function currentRoom(code: RoomCode) {
    const state = orMissing(await core.rooms.readState(code, clock()));
    return seenRoom(state, await core.rooms.listDevices(code, clock()));
  }

  return {
    dispatcher,

    /** Returns the webhook with its secret, which is not shown again. */
    async create(caller: Caller, { url, events = allEvents, base }: NewWebhook) {
      const { code } = await admit(core, caller, 'manageWebhooks');
      const target = checkUrl(url, sender);
      const now = clock();
      const webhook: Webhook = {
        ...{ id: randomBytes(16).toString('hex'), url: target.href, events: [...new Set(events)] },
        ...{ link: `${base}/r/${code}`, createdAt: now, pending: [], failures: 0, nextAttemptAt: 0 },
      };
      const { seq, state } = await currentRoom(code);
      const fresh: WebhookDocument = { webhooks: [], reported: state, textAt: 0, deviceAt: 0 };
      const outcome = await documents.update(code, (current) => {
        const { document, ...rest } = current ?? { document: fresh, seq, dueAt: now };
        if (document.webhooks.length >= maxPerRoom) {
          const message = `A room can have at most ${maxPerRoom} webhooks.`;
          throw new PoproomError('TOO_MANY_WEBHOOKS', message, { details: { maximum: maxPerRoom } });
        }
        // Nobody has followed the devices so far.
        const devices = wants(document, 'device') ? document.reported.devices : state.devices;
        const reported = { ...document.reported, devices };
        return { ...rest, document: { ...document, reported, webhooks: [...document.webhooks, webhook] } };
      });
      orMissing(outcome);
      dispatcher.know(code);
      return { ...infoOf(webhook), secret: `whsec_${webhookSecret(secret, webhook.id).toString('base64')}` };
    },

    async list(caller: Caller): Promise<WebhookInfo[]> {
      const { code } = await admit(core, caller, 'manageWebhooks');
      const found = await documents.read(code);
      return (found?.document.webhooks ?? []).map(infoOf);
    },

    async remove(caller: Caller, id: string): Promise<void> {
      const { code } = await admit(core, caller, 'manageWebhooks');
      const outcome = await documents.update(code, (current) => {
        if (!current?.document.webhooks.some((webhook) => webhook.id === id))
          throw new PoproomError('NOT_FOUND', 'The room has no such webhook.', { details: { field: 'webhookId' } });
        const webhooks = current.document.webhooks.filter((webhook) => webhook.id !== id);
        return { ...current, document: { ...current.document, webhooks } };
      });
      orMissing(outcome);
    },
  };
}

function infoOf({ id, url, events, createdAt, lastDeliveredAt, lastError }: Webhook): WebhookInfo {
  return {
    ...{ id, host: new URL(url).host, events, createdAt },
    ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
    ...(lastError && { lastError }),
  };
}

function checkUrl(text: string, sender: WebhookSender): URL {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    const form = `with http or https, of at most ${maxUrlLength} characters, without user name, password and fragment`;
    throw invalidField('url', `"url" must be a URL ${form}.`);
  }
  if (sender.isAllowed(url)) return url;
  const message =
    'This server does not allow webhooks to this host. The operator can allow it with POPROOM_WEBHOOK_HOSTS.';
  throw new PoproomError('WEBHOOK_NOT_ALLOWED', message, { details: { field: 'url' } });
}
