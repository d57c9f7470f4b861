/** Going on with what may be known already. */
import type { MaybePromise } from './ports.ts';

/** At once where it is: a promise for each of many small steps would cost more than the steps do. */
export function chain<T, R>(soon: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return soon instanceof Promise ? soon.then(next) : next(soon);
}
