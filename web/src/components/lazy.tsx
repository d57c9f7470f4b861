/** Components that are loaded when they are first rendered, which keeps the first view small. */
import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { Button } from './controls.tsx';
import { notify } from './notices.tsx';

interface Closable {
  onClose?: () => void;
}

type PropsOf<Component> = Component extends (props: infer P extends object) => unknown ? P : never;

type LazyComponent<Props> = FunctionComponent<Props> & {
  /** Loads it before it is rendered. Never rejects. */
  load(): Promise<void>;
};

/** The component that a module exports by this name. Renders the placeholder while it loads. */
export function lazy<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  Placeholder?: FunctionComponent<PropsOf<Module[Name]>>,
): LazyComponent<PropsOf<Module[Name]>> {
  type Component = FunctionComponent<PropsOf<Module[Name]>>;
  const loaded = signal<Component | 'failed' | undefined>(undefined);

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
    useEffect(() => {
      void start();
    }, []);
    if (component === 'failed') return <LoadFailed {...(props as Closable)} />;
    const Component = component ?? Placeholder;
    return Component ? <Component {...props} /> : null;
  }
  return Object.assign(Lazy, { load: start });
}

/** After an update, the server no longer has the files of the old page; a reload fetches the new one. */
function LoadFailed({ onClose }: Closable) {
  useEffect(() => {
    notify(t('loadFailed'));
    onClose?.();
  }, []);
  return <Button class="reload" label={t('reload')} onClick={() => location.reload()} />;
}
