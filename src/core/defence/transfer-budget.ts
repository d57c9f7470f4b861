/**
 * Memory or descriptors that transfers share. When a budget is full, the slowest transfer ends, not the newest arrival.
 * A client never holds more than a share of what is free, so that the first transfers of others find room.
 */
import type { ClientId, Clock } from '../ports/basics.ts';
import { noteReleased } from './garbage.ts';

export interface BudgetLimits {
  total: number;
  /** The maximum of a client while nobody else holds anything. The more the others hold, the lower it is. */
  perClient: number;
}

/** The request, response or connection of a transfer. */
interface TransferSource {
  /** Undefined for a proxy: its connections belong to many clients. */
  client: ClientId | undefined;
  /** The bytes that have been transferred. */
  progress(): number;
  /** Called when the transfer has to end. What it held is released already. */
  end(): void;
}

/** A transfer below this rate may be ended, once it has lasted for the time over which the rate is measured. */
const minBytesPerSecond = 8 * 1024;
const measuredMs = 10_000;
/** The system takes the bytes of a slow reader in steps of some 100 KiB, so a step counts for up to this long. */
const longestMeasuredMs = 60_000;
const sampleEveryMs = 5_000;
/** Finding the slowest transfers takes a millisecond for a thousand of them. */
const searchEveryMs = 1_000;

export class TransferBudget {
  readonly #limits: BudgetLimits;
  readonly #monotonic: Clock;
  readonly #transfers = new Set<Transfer>();
  readonly #held = new Map<ClientId, number>();
  total = 0;
  #sampling: NodeJS.Timeout | undefined;
  /** Slow transfers, the slowest first, and when they were found. */
  #slow: Transfer[] = [];
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(limits: BudgetLimits, monotonic: Clock) {
    this.#limits = limits;
    this.#monotonic = monotonic;
  }

  get maximum(): number {
    return this.#limits.total;
  }

  /** A transfer that holds nothing yet. */
  start(source: TransferSource): Transfer {
    return new Transfer(this, source, this.#monotonic());
  }

  /** Called by the transfer. */
  take(transfer: Transfer, amount: number): boolean {
    const { client } = transfer;
    if (!this.#fits(client, amount)) this.#makeRoom(transfer, amount);
    if (!this.#fits(client, amount)) return false;
    this.#add(client, amount);
    this.#transfers.add(transfer);
    this.#sampling ??= setInterval(() => this.#sampleOrStop(), sampleEveryMs).unref();
    return true;
  }

  /** Called by the transfer. */
  release(transfer: Transfer, amount: number): void {
    this.#add(transfer.client, -amount);
    if (transfer.held === 0) this.#transfers.delete(transfer);
    noteReleased(amount);
  }

  /** After taking the amount, a client holds at most a share of what is free. */
  #fits(client: ClientId | undefined, amount: number, released = { all: 0, own: 0 }): boolean {
    const { total, perClient } = this.#limits;
    const free = total - this.total + released.all - amount;
    if (free < 0 || client === undefined) return free >= 0;
    const held = this.#heldBy(client) - released.own + amount;
    return held * (total - perClient) <= perClient * free;
  }

  /** Ends the slowest transfers, or none if these are not enough. A client at its maximum gets room only from its own. */
  #makeRoom(arriving: Transfer, amount: number): void {
    const { client } = arriving;
    const now = this.#monotonic();
    const isOwnFault = client !== undefined && this.#heldBy(client) + amount > this.#limits.perClient;
    const ending: Transfer[] = [];
    const released = { all: 0, own: 0 };
    for (const slow of this.#slowest(now)) {
      if (slow === arriving || (isOwnFault && slow.client !== client)) continue;
      // It may have ended or become faster since the search.
      if (!isSlow(slow.rate(now))) continue;
      ending.push(slow);
      released.all += slow.held;
      if (slow.client === client) released.own += slow.held;
      if (!this.#fits(client, amount, released)) continue;
      for (const transfer of ending) transfer.end();
      return;
    }
  }

  /** Among equally slow ones, those of the client that holds the most come first. */
  #slowest(now: number): readonly Transfer[] {
    if (now - this.#searchedAt < searchEveryMs) return this.#slow;
    this.#searchedAt = now;
    this.#sample(now);
    const slow = [...this.#transfers]
      .map((transfer) => ({ transfer, rate: transfer.rate(now), held: this.#heldBy(transfer.client) }))
      .filter(({ rate }) => isSlow(rate));
    slow.sort((a, b) => wholeKiB(a.rate) - wholeKiB(b.rate) || b.held - a.held);
    this.#slow = slow.map(({ transfer }) => transfer);
    return this.#slow;
  }

  #sample(now: number): void {
    for (const transfer of this.#transfers) transfer.sample(now);
  }

  #sampleOrStop(): void {
    this.#sample(this.#monotonic());
    if (this.#transfers.size > 0) return;
    clearInterval(this.#sampling);
    this.#sampling = undefined;
    this.#slow = [];
  }

  #heldBy(client: ClientId | undefined): number {
    return client === undefined ? 0 : (this.#held.get(client) ?? 0);
  }

  #add(client: ClientId | undefined, amount: number): void {
    this.total += amount;
    if (client === undefined) return;
    const held = this.#heldBy(client) + amount;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}

const isSlow = (rate: number) => rate < minBytesPerSecond;
const wholeKiB = (bytes: number) => Math.floor(bytes / 1024);

type Sample = { at: number; bytes: number };

/** `running` may be ended if it is slow; `lasting` is idle for good reasons; `closed` holds nothing and takes nothing. */
type TransferState = 'running' | 'lasting' | 'closed';

export class Transfer {
  readonly #budget: TransferBudget;
  readonly #source: TransferSource;
  readonly client: ClientId | undefined;
  readonly #start: Sample;
  /** Of the longest time that is measured, without the start: at first, the system buffers bytes that nobody reads. */
  readonly #samples: Sample[] = [];
  #state: TransferState = 'running';
  held = 0;

  constructor(budget: TransferBudget, source: TransferSource, now: number) {
    this.#budget = budget;
    this.#source = source;
    this.client = source.client;
    this.#start = { at: now, bytes: source.progress() };
  }

  /** Whether there is room. Slower transfers may end for it. */
  take(amount: number): boolean {
    if (this.#state === 'closed' || !this.#budget.take(this, amount)) return false;
    this.held += amount;
    return true;
  }

  release(amount: number): void {
    const released = Math.min(amount, this.held);
    if (released === 0) return;
    this.held -= released;
    this.#budget.release(this, released);
  }

  /** From now on, its rate does not matter. */
  keep(): void {
    if (this.#state === 'running') this.#state = 'lasting';
  }

  close(): void {
    this.#state = 'closed';
    this.release(this.held);
  }

  end(): void {
    this.close();
    this.#source.end();
  }

  /** In bytes per second. Infinite if the transfer cannot be ended, or is too young for a measurement. */
  rate(now: number): number {
    if (this.#state !== 'running' || now - this.#start.at < measuredMs) return Number.POSITIVE_INFINITY;
    const bytes = this.#source.progress();
    const rateSince = (sample: Sample) => ((bytes - sample.bytes) * 1000) / (now - sample.at);
    const samples = this.#samples.filter(({ at }) => now - at >= measuredMs);
    return samples.length === 0 ? rateSince(this.#start) : Math.max(...samples.map(rateSince));
  }

  sample(now: number): void {
    const last = this.#samples.at(-1);
    if (this.#state !== 'running' || (last && now - last.at < sampleEveryMs)) return;
    this.#samples.push({ at: now, bytes: this.#source.progress() });
    const oldest = this.#samples.findLastIndex(({ at }) => now - at >= longestMeasuredMs);
    if (oldest > 0) this.#samples.splice(0, oldest);
  }
}

const MiB = 1024 * 1024;

/** Enough for several clients with a body of the maximum size. */
export function memoryLimits(largestBody: number): BudgetLimits {
  const perClient = Math.max(16 * MiB, 2 * largestBody);
  return { perClient, total: 3 * perClient };
}

export type Budgets = ReturnType<typeof createBudgets>;

/** The budgets that the transfers of a server share. All but the last one are bytes in memory. */
export function createBudgets(largestBody: number, descriptors: number, monotonic: Clock) {
  const budget = (limits: BudgetLimits) => new TransferBudget(limits, monotonic);
  return {
    /** Incomplete request bodies. */
    bodies: budget(memoryLimits(largestBody)),
    /** Unread responses. */
    responses: budget(memoryLimits(largestBody)),
    /** Files that are being sent. */
    downloads: budget({ perClient: 32 * MiB, total: 128 * MiB }),
    /** Zip archives that are being sent. */
    archives: budget({ perClient: 16 * MiB, total: 128 * MiB }),
    /** Connections and open files. */
    descriptors: budget({ perClient: Math.floor(descriptors / 4), total: descriptors }),
  };
}

/** A message to a session. */
interface Message {
  /** Its size, including the long text. */
  bytes: number;
  /** A text that several messages share. */
  longText: { json: object } | undefined;
}

export class UnreadBytes {
  readonly #limits: BudgetLimits;
  readonly #all = new SharedBytes();
  readonly #perClient = new Map<ClientId, SharedBytes>();

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#all.total;
  }

  isFull(client: ClientId): boolean {
    const ofClient = this.#perClient.get(client)?.total ?? 0;
    return this.#all.total >= this.#limits.total || ofClient >= this.#limits.perClient;
  }

  add(client: ClientId, message: Message): void {
    const ofClient = this.#perClient.get(client) ?? new SharedBytes();
    this.#perClient.set(client, ofClient);
    ofClient.add(message);
    this.#all.add(message);
  }

  remove(client: ClientId, message: Message): void {
    this.#all.remove(message);
    const ofClient = this.#perClient.get(client);
    ofClient?.remove(message);
    if (ofClient?.total === 0) this.#perClient.delete(client);
  }
}

/** Identical messages, and messages with the same long text, count once. */
class SharedBytes {
  readonly #shared = new Map<object, { bytes: number; holders: number }>();
  total = 0;

  add(message: Message): void {
    const known = this.#shared.get(sharedPart(message)) ?? { bytes: message.bytes, holders: 0 };
    if (known.holders === 0) this.total += known.bytes;
    known.holders += 1;
    this.#shared.set(sharedPart(message), known);
  }

  remove(message: Message): void {
    const known = this.#shared.get(sharedPart(message));
    if (!known || --known.holders > 0) return;
    this.#shared.delete(sharedPart(message));
    this.total -= known.bytes;
  }
}

const sharedPart = (message: Message): object => message.longText?.json ?? message;
