/** The blocked ranges of addresses, as this node knows them. Other nodes' changes arrive within seconds. */
import { randomBytes } from 'node:crypto';
import { PoproomError } from '../errors.ts';
import type { AddressBlock, BlockStore, Clock } from '../ports.ts';

export interface Blocks {
  readonly maximum: number;
  /** Calls `listener` with the blocks in force, whenever they change. */
  onChange(listener: (blocks: readonly AddressBlock[]) => void): void;
  list(): Promise<AddressBlock[]>;
  add(block: Pick<AddressBlock, 'range' | 'reason' | 'endsAt'>): Promise<AddressBlock>;
  remove(id: string): Promise<void>;
  /** Reads them again. While the store is unavailable, the last known ones stay in force. */
  refresh(): Promise<void>;
  stop(): void;
}

export interface BlocksDeps {
  store: BlockStore;
  clock: Clock;
  everyMs: number;
  maximum: number;
}

export function createBlocks({ store, clock, everyMs, maximum }: BlocksDeps): Blocks {
  let known: readonly AddressBlock[] = [];
  const listeners: ((blocks: readonly AddressBlock[]) => void)[] = [];

  async function refresh(): Promise<void> {
    const current = await store.list(clock());
    if (JSON.stringify(current) === JSON.stringify(known)) return;
    known = current;
    for (const listener of listeners) listener(known);
  }

  const timer = setInterval(() => void refresh().catch(() => undefined), everyMs).unref();

  return {
    maximum,
    onChange: (listener) => void listeners.push(listener),
    list: () => store.list(clock()),
    async add(draft) {
      const block = { ...draft, id: randomBytes(5).toString('hex'), createdAt: clock() };
      if ((await store.put(block, maximum)) === 'full') throw tooMany(maximum);
      await refresh();
      return block;
    },
    async remove(id) {
      if ((await store.remove(id)) === 'unknown') throw new PoproomError('NOT_FOUND', 'There is no such block.');
      await refresh();
    },
    refresh,
    stop: () => clearInterval(timer),
  };
}

function tooMany(maximum: number): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `There are already ${maximum} blocks. Remove one first.`, {
    details: { field: 'range', maximum },
  });
}
