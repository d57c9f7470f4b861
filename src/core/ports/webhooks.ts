/** The webhooks of rooms in the store, and the sender of events. */
import type { WebhookErrorCode } from '../../protocol/error-codes.ts';
import type { RoomCode } from '../../protocol/room-code.ts';

/** All webhooks of a room, and the events that are to be sent. */
export interface StoredWebhooks {
  /** Sealed, because URLs may contain tokens. */
  document: string;
  /** Increases with every write. */
  revision: number;
  /** The seq of the room up to which the document has its changes. */
  seq: number;
  /** When a node must read it again, even if the room does not change. */
  dueAt: number;
}

export interface WebhookScan {
  /** All rooms with webhooks, including those that have ended. */
  all: RoomCode[];
  /** Rooms that have changed, or whose deliveries are due. */
  due: RoomCode[];
  ended: RoomCode[];
}

type WebhookWrite = StoredWebhooks | Omit<StoredWebhooks, 'document'>;
type WriteOutcome = 'stored' | 'stale' | 'full' | 'gone';

export interface WebhookStore {
  /** Undefined if the room has none, or has ended. */
  read(code: RoomCode, now: number): Promise<StoredWebhooks | undefined>;
  /**
   * Stores them if the stored revision is the one before, which is 0 for a room without webhooks. Without a document,
   * removes them. `full` if about `maxRooms` other rooms have webhooks.
   */
  write(code: RoomCode, webhooks: WebhookWrite, maxRooms: number, now: number): Promise<WriteOutcome>;
  scan(now: number): Promise<WebhookScan>;
  /** Removes the document of a room that has ended, and returns it to one caller. */
  takeEnded(code: RoomCode, now: number): Promise<string | undefined>;
}

export type WebhookRequest = { url: string; headers: Readonly<Record<string, string>>; body: string };

/** Why an attempt failed. The message is a sentence for the members of the room, without the URL. */
export interface WebhookProblem {
  code: WebhookErrorCode;
  message: string;
  /** Of the response, if there was one. */
  status?: number;
}

export type WebhookOutcome = { outcome: 'delivered' } | { outcome: 'failed'; problem: WebhookProblem };

export interface WebhookSender {
  /** Whether the operator allows the host of a URL. */
  isAllowed(url: URL): boolean;
  /** Never rejects, and takes a few seconds at most. `busy` if too many requests are running; nothing was sent. */
  send(request: WebhookRequest): Promise<WebhookOutcome | { outcome: 'busy' }>;
}
