/** Parts that are loaded when they are first shown, so that the first view need not wait for them. */
import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { notify } from './notices.tsx';

interface Closable {
  onClose?: () => void;
}

export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  const loaded = signal<FunctionComponent<P> | 'failed' | undefined>(undefined);

  function start(): void {
    loaded.value = undefined;
    load().then(
      (part) => {
        loaded.value = part;
      },
      () => {
        loaded.value = 'failed';
      },
    );
  }

  return (props) => {
    const part = loaded.value;
    // Also when an earlier try failed: the network may be back.
    useEffect(() => {
      if (typeof loaded.peek() !== 'function') start();
    }, []);
    if (part === 'failed') return <Missing {...(props as Closable)} />;
    const Part = part;
    return Part ? <Part {...props} /> : null;
  };
}

/** The server may have a newer page by now, and this one's parts no longer. */
function Missing({ onClose }: Closable) {
  useEffect(() => {
    notify(t('partMissing'));
    onClose?.();
  }, []);
  return (
    <button type="button" class="button reload" onClick={() => location.reload()}>
      {t('reload')}
    </button>
  );
}
