/** Going on with what may be known already. */
import type { Soon } from './ports.ts';

/** At once where it is: a promise for each of many small steps would cost more than the steps do. */
export function after<T, R>(soon: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return soon instanceof Promise ? soon.then(next) : next(soon);
}
