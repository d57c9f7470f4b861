/** Values that may be available synchronously. */
import type { MaybePromise } from './ports.ts';

/** Calls `next` synchronously if it can: a promise for each small step would cost more than the step. */
export function chain<T, R>(value: MaybePromise<T>, next: (resolved: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
