/**
 * The webhooks of a room, as one sealed document in the store: their definitions, the state of the room that was
 * reported last, and the events to send. Changes compare revisions, so that no node overwrites the change of another.
 */
import { createHmac } from 'node:crypto';
import { PoproomError } from '../errors.ts';
import type { Clock, Room } from '../ports/basics.ts';
import type { Device } from '../ports/rooms.ts';
import type { KnownText } from '../ports/texts.ts';
import type { StoredWebhooks, WebhookProblem, WebhookStore } from '../ports/webhooks.ts';
import type { RoomCode } from '../room-code.ts';
import { seal, unseal } from '../tokens.ts';

export type WebhookEvent = 'text' | 'file' | 'device' | 'room';

/** An event that was not delivered yet. A repetition has the same id. */
export interface PendingEvent {
  id: string;
  type: WebhookEvent;
  at: number;
  /** The fields of the payload that describe the event. */
  data: Readonly<Record<string, unknown>>;
}

export interface Webhook {
  id: string;
  url: string;
  events: readonly WebhookEvent[];
  /** The link to the room, as its creator reached the server. */
  link: string;
  createdAt: number;
  /** Oldest first. */
  pending: PendingEvent[];
  /** Failed attempts since the last delivery, and when the next one is due. */
  failures: number;
  nextAttemptAt: number;
  lastDeliveredAt?: number;
  lastError?: WebhookProblem & { at: number };
}

/** The state of a room that its webhooks know. */
export interface ReportedState extends KnownText, Pick<Room, 'name' | 'expiresAt' | 'hasPin'> {
  /** The starts of their ids, which are enough to tell them apart. */
  files: readonly string[];
  devices: readonly Device[];
  extendMs: number | undefined;
}

export interface WebhookDocument {
  webhooks: Webhook[];
  reported: ReportedState;
  /** When the last events of these types were made. */
  textAt: number;
  deviceAt: number;
  /** The node that reports changes and sends events, until it is done or this moment has passed. */
  lease?: { node: string; until: number };
}

/** Everything but the document itself: what the store needs to know to find it again. */
export type DocumentState = Pick<StoredWebhooks, 'seq' | 'dueAt'> & { document: WebhookDocument };

/** How many rooms may have webhooks. Nodes compare all of them with their rooms every few seconds. */
const maxRooms = 10_000;
const maxConflicts = 20;

type DocumentDeps = { webhooks: WebhookStore; secret: string; clock: Clock };

type Change = (current: DocumentState | undefined) => DocumentState | undefined;

export type WebhookDocuments = ReturnType<typeof createWebhookDocuments>;

export function createWebhookDocuments({ webhooks, secret, clock }: DocumentDeps) {
  const keyOf = (code: RoomCode) => createHmac('sha256', secret).update(`webhooks ${code}`).digest();

  /** Undefined if it was sealed under another secret of the server. */
  function open(code: RoomCode, document: string): WebhookDocument | undefined {
    try {
      return JSON.parse(unseal(Buffer.from(document, 'base64'), keyOf(code)));
    } catch {
      return undefined;
    }
  }

  function opened(code: RoomCode, stored: StoredWebhooks | undefined): DocumentState | undefined {
    const document = stored && open(code, stored.document);
    return stored && document && { ...stored, document };
  }

  return {
    read: async (code: RoomCode) => opened(code, await webhooks.read(code, clock())),

    /**
     * Changes the document, again if another change came first. Without webhooks, it is removed. `change` returns
     * undefined to leave it as it is, and may throw. Returns the stored document, and `gone` if the room has ended.
     */
    async update(code: RoomCode, change: Change): Promise<WebhookDocument | undefined | 'gone'> {
      for (let conflicts = 0; conflicts < maxConflicts; conflicts++) {
        const stored = await webhooks.read(code, clock());
        const next = change(opened(code, stored));
        if (!next) return undefined;
        const { document, seq, dueAt } = next;
        const state = { revision: (stored?.revision ?? 0) + 1, seq, dueAt };
        const isKept = document.webhooks.length > 0;
        const sealed = isKept && { document: seal(JSON.stringify(document), keyOf(code)).toString('base64') };
        const outcome = await webhooks.write(code, { ...state, ...sealed }, maxRooms, clock());
        if (outcome === 'stored') return document;
        if (outcome === 'gone') return 'gone';
        if (outcome === 'full') throw new PoproomError('UNAVAILABLE', tooManyRooms, { retryAfter: 3600 });
      }
      const message = 'The webhooks of the room are being changed. Try again.';
      throw new PoproomError('UNAVAILABLE', message, { retryAfter: 1 });
    },

    /** Removes the webhooks of a room that has ended, and returns them to one caller. */
    async takeEnded(code: RoomCode): Promise<WebhookDocument | undefined> {
      const document = await webhooks.takeEnded(code, clock());
      return document === undefined ? undefined : open(code, document);
    },
  };
}

const tooManyRooms = 'Too many rooms of this server have webhooks. Try again later.';
