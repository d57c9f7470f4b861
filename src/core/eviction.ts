/** Watches whether the store may remove rooms when it is full: someone may change its settings at any time. */
import type { Log, Store } from './ports.ts';

export interface EvictionDeps {
  store: Pick<Store, 'evictionPolicy'>;
  /** Whether the operator accepts the loss of rooms. */
  isAllowed: boolean;
  log: Log;
  everyMs: number;
}

export interface EvictionWatch {
  /** Whether the store evicts although the operator does not accept it. */
  isRisky(): boolean;
  stop(): void;
}

export function watchEviction({ store, isAllowed, log, everyMs }: EvictionDeps): EvictionWatch {
  let known: string | undefined = 'noeviction';

  async function check(): Promise<void> {
    const policy = await store.evictionPolicy();
    if (policy !== known) report(policy);
    known = policy;
  }

  function report(policy: string | undefined): void {
    if (policy === 'noeviction') log.info({ policy }, 'the store keeps everything when it is full');
    else if (policy === undefined) log.warn({}, unknownPolicy);
    else log[isAllowed ? 'warn' : 'error']({ policy }, evicts);
  }

  // An outage is reported elsewhere.
  const checkSafely = () => void check().catch(() => undefined);
  checkSafely();
  const timer = setInterval(checkSafely, everyMs);
  timer.unref();
  return {
    isRisky: () => !isAllowed && known !== undefined && known !== 'noeviction',
    stop: () => clearInterval(timer),
  };
}

const evicts = 'the store deletes rooms when its memory is full: set its maxmemory-policy to noeviction';
const unknownPolicy =
  'the store does not reveal its maxmemory-policy: make sure that it is noeviction, or rooms may be lost';
