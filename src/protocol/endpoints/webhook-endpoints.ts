/** Endpoints of the webhooks of a room. */
import * as schemas from '../schemas.ts';
import {
  anyBody,
  anyRoom,
  confirms,
  type Endpoint,
  endpointsWith,
  responds,
  roomAccess,
  webhookId,
} from './endpoint.ts';

const webhooks = endpointsWith({ tag: 'Webhooks', operation: 'manageWebhooks', counted: true });

export const webhooksEndpoints = {
  createWebhook: {
    ...webhooks('POST', '/api/rooms/:roomId/webhooks', 'Create a webhook'),
    description:
      'Sends events of the room to a URL: `text`, `file`, `device` and `room`. The operator must have allowed its host. ' +
      'A room can have 5 webhooks. Requests are signed with `secret`, as Standard Webhooks specifies. They contain the ' +
      'link to the room and the version of the text, but not the text.',
    parameters: roomAccess,
    body: { schema: schemas.createWebhookRequest, required: true },
    successes: [responds('The webhook, with its secret.', schemas.webhookCreated, { status: 201 })],
    errors: [...anyRoom, ...anyBody, 'WEBHOOK_NOT_ALLOWED', 'TOO_MANY_WEBHOOKS', 'STORAGE_FULL'],
  },
  listWebhooks: {
    ...webhooks('GET', '/api/rooms/:roomId/webhooks', 'List webhooks'),
    description:
      'Lists the webhooks of the room, with the last delivery and the last error of each. Returns only the host of ' +
      'each URL, because the rest may contain a token.',
    parameters: roomAccess,
    successes: [
      responds('The webhooks.', schemas.webhookList, {
        example: {
          webhooks: [
            {
              id: '1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10',
              host: 'hooks.example.org',
              events: ['text', 'file'],
              createdAt: '2026-11-15T09:30:00.000Z',
            },
          ],
        },
      }),
    ],
    errors: anyRoom,
  },
  deleteWebhook: {
    ...webhooks('DELETE', '/api/rooms/:roomId/webhooks/:webhookId', 'Delete a webhook'),
    description: 'Deletes a webhook, with the events that are waiting for it.',
    parameters: [...roomAccess, webhookId],
    body: { schema: schemas.pinOnlyRequest, required: false },
    successes: [confirms('The webhook was deleted.')],
    errors: [...anyRoom, ...anyBody, 'NOT_FOUND', 'STORAGE_FULL'],
  },
} as const satisfies Record<string, Endpoint>;
