/**
 * One room's news on this node. The bus says that something changed; the feed reads what, once for all sessions, and
 * never twice at a time. A lost message delays the news until the next one or the next heartbeat, and loses nothing.
 */
import type { Parts } from '../core/parts.ts';
import type { Subscription } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';
import type { Closed } from '../protocol/types.ts';
import type { RoomView } from './room-view.ts';
import type { Session } from './session.ts';
import { type Outgoing, outgoing } from './wire.ts';

export class RoomFeed {
  readonly code: RoomCode;
  readonly sessions = new Set<Session>();
  /** How many are about to become a session. */
  entering = 0;
  /** When it is due to be read anew; each room at a time of its own, so that many of them do not make one long pause. */
  renewAt: number;
  readonly #parts: Parts;
  readonly #news: Subscription;
  #view: RoomView | undefined;
  #ended: 'expired' | 'deleted' | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  #heartbeat: Outgoing | undefined;

  constructor(code: RoomCode, parts: Parts, renewAt: number) {
    this.code = code;
    this.renewAt = renewAt;
    this.#parts = parts;
    // Where reading fails, the next heartbeat reads anew.
    this.#news = parts.bus.subscribe(code, () => void this.refresh().catch(() => undefined));
  }

  /** There is one once the room has been read. */
  get view(): RoomView {
    if (!this.#view) throw new Error('The room has not been read yet.');
    return this.#view;
  }

  /** The same for all who have been told everything. */
  heartbeat(): Outgoing {
    const { seq } = this.view;
    if (this.#heartbeat?.seq !== seq) this.#heartbeat = outgoing({ type: 'heartbeat', seq });
    return this.#heartbeat as Outgoing;
  }

  /** Why there is nothing more to come. */
  get ended(): 'expired' | 'deleted' | undefined {
    return this.#ended;
  }

  /** Reads the room anew and tells the sessions; a call during a read makes for one more read after it. */
  refresh(): Promise<void> {
    if (this.#reading) this.#again = true;
    this.#reading ??= this.#readUntilQuiet();
    return this.#reading;
  }

  close(): void {
    this.#news.leave();
  }

  /** Ends all sessions. */
  end(closed: Closed): void {
    for (const session of [...this.sessions]) session.end(closed);
  }

  #finish(reason: 'expired' | 'deleted'): void {
    this.#ended = reason;
    this.end({ type: 'closed', reason });
  }

  async #readUntilQuiet(): Promise<void> {
    try {
      await this.#news.ready;
      do {
        this.#again = false;
        await this.#read();
      } while (this.#again && !this.#ended);
    } finally {
      // In the same step as the last look for more: whoever came in between would wait for a read that is over.
      this.#reading = undefined;
    }
  }

  async #read(): Promise<void> {
    const next = await readView(this.#parts, this.code);
    if (typeof next === 'string') return this.#finish(next);
    const before = this.#view ?? next;
    this.#view = next;
    const prepared: Prepared = new Map();
    for (const session of this.sessions) session.follow(before, next, prepared);
  }
}

/** Messages from one view to the next, by the address that links begin with: made once for all who share both. */
export type Prepared = Map<string, Outgoing[]>;

export async function readView({ rooms, clock }: Parts, code: RoomCode): Promise<RoomView | 'expired' | 'deleted'> {
  const state = await rooms.readState(code, clock());
  if (state === 'expired') return 'expired';
  if (state === 'gone') return 'deleted';
  return { ...state, devices: await rooms.listDevices(code, clock()) };
}
