/** Loads data of the admin API, and loads it again when the path changes or on request. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { AdminError, call } from './api.ts';

export type Loaded<T> =
  | { state: 'loading' }
  | { state: 'loaded'; data: T }
  /** With the data of the last success, if there is any. */
  | { state: 'failed'; error: AdminError; data: T | undefined };

export interface Data<T> {
  loaded: Loaded<T>;
  reload(): void;
}

export function useData<T>(path: string, refreshMs?: number): Data<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((last) => last + 1), []);

  // Another round loads the same path again.
  useEffect(() => {
    const controller = new AbortController();
    call<T>(path, { signal: controller.signal }).then(
      (data) => setLoaded({ state: 'loaded', data }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const shown = error instanceof AdminError ? error : new AdminError('FAILED', String(error));
        setLoaded((last) => ({ state: 'failed', error: shown, data: dataOf(last) }));
      },
    );
    return () => controller.abort();
  }, [path, round]);

  useEffect(() => {
    if (refreshMs === undefined) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), refreshMs);
    return () => clearInterval(timer);
  }, [refreshMs, reload]);

  return { loaded, reload };
}

export const dataOf = <T>(loaded: Loaded<T>): T | undefined => (loaded.state === 'loading' ? undefined : loaded.data);
