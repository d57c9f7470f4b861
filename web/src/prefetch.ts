/** Loads code before it is needed: when the browser is idle, so that it is there on a click, also without a connection. */

/** Returns a function that cancels it. Does nothing for users who want to save data. */
export function prefetchWhenIdle(...loaders: (() => Promise<unknown>)[]): () => void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return () => undefined;
  const stop = new AbortController();
  whenLoaded(() => void loadAll(loaders, stop.signal));
  return () => stop.abort();
}

/** One after another, so that requests of the user are not delayed. */
async function loadAll(loaders: readonly (() => Promise<unknown>)[], signal: AbortSignal): Promise<void> {
  for (const load of loaders) {
    await idle();
    if (signal.aborted) return;
    // A failure is reported when the code is needed.
    await load().catch(() => undefined);
  }
}

/** Runs it when the page has loaded, with everything in its HTML. */
export function whenLoaded(run: () => void): void {
  if (document.readyState === 'complete') run();
  else addEventListener('load', run, { once: true });
}

/** Safari has no idle callbacks. */
const idle = (): Promise<unknown> =>
  new Promise((resolve) => ('requestIdleCallback' in window ? requestIdleCallback(resolve) : setTimeout(resolve, 200)));
