/** Components that are loaded when they are first rendered or the browser is idle, which keeps the first view small. */
import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { Button } from './controls.tsx';
import { notify } from './notices.tsx';

type PropsOf<Component> = Component extends (props: infer P extends object) => unknown ? P : never;

/** The component that a module exports by this name. Renders the placeholder while it loads. `load` loads it earlier. */
export function lazy<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  Placeholder?: FunctionComponent<PropsOf<Module[Name]>>,
) {
  type Component = FunctionComponent<PropsOf<Module[Name]>>;
  const loaded = signal<Component | 'failed' | undefined>(undefined);

  /** Never rejects. */
  async function start(): Promise<void> {
    if (typeof loaded.peek() === 'function') return;
    retry();
    loaded.value = await load().then(
      (module) => module[name] as Component,
      () => 'failed',
    );
  }

  function retry(): void {
    if (loaded.peek() === 'failed') loaded.value = undefined;
  }

  function Lazy(props: PropsOf<Module[Name]>) {
    // Before the first render, which would report the earlier failure again: the network may be back.
    useMemo(retry, []);
    const component = loaded.value;
    useEffect(() => void start(), []);
    if (component === 'failed') return <LoadFailed {...(props as { onClose?: () => void })} />;
    const Component = component ?? Placeholder;
    return Component ? <Component {...props} /> : null;
  }
  return Object.assign(Lazy, { load: start });
}

/** After an update, the server no longer has the files of the old page; a reload fetches the new one. */
function LoadFailed({ onClose }: { onClose?: () => void }) {
  useEffect(() => {
    notify(t('loadFailed'));
    onClose?.();
  }, []);
  return <Button class="reload" label={t('reload')} onClick={() => location.reload()} />;
}

/**
 * Loads code before it is needed, so that it is there on a click, also without a connection. Returns a function that
 * cancels it. Does nothing for users who want to save data.
 */
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
