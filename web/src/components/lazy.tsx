/** Components that are loaded when they are first rendered, which keeps the first view small. */
import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { notify } from './notices.tsx';

interface Closable {
  onClose?: () => void;
}

type PropsOf<Component> = Component extends (props: infer P extends object) => unknown ? P : never;

/** The component that a module exports by this name. Renders the placeholder while it loads. */
export function lazy<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  Placeholder?: FunctionComponent<PropsOf<Module[Name]>>,
): FunctionComponent<PropsOf<Module[Name]>> {
  type Component = FunctionComponent<PropsOf<Module[Name]>>;
  const loaded = signal<Component | 'failed' | undefined>(undefined);

  function start(): void {
    loaded.value = undefined;
    load().then(
      (module) => {
        loaded.value = module[name] as Component;
      },
      () => {
        loaded.value = 'failed';
      },
    );
  }

  return (props) => {
    const component = loaded.value;
    // Retry also after a failure: the network may be back.
    useEffect(() => {
      if (typeof loaded.peek() !== 'function') start();
    }, []);
    if (component === 'failed') return <LoadFailed {...(props as Closable)} />;
    const Component = component ?? Placeholder;
    return Component ? <Component {...props} /> : null;
  };
}

/** After an update, the server no longer has the files of the old page; a reload fetches the new one. */
function LoadFailed({ onClose }: Closable) {
  useEffect(() => {
    notify(t('loadFailed'));
    onClose?.();
  }, []);
  return (
    <button type="button" class="button reload" onClick={() => location.reload()}>
      {t('reload')}
    </button>
  );
}
