/** Copies a text, and says so for a moment. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { copyText } from './clipboard.ts';
import { Icon, type IconName } from './icon.tsx';
import { notify } from './notices.tsx';

interface Props {
  /** A function, where making the text costs something. */
  text: string | (() => string);
  /** What it copies, for people. */
  label: string;
  icon?: IconName;
  /** Only the icon is seen. */
  compact?: boolean;
  disabled?: boolean;
}

export function CopyButton({ text, label, icon = 'copy', compact, disabled }: Props) {
  const done = useSignal(false);
  useEffect(() => {
    if (!done.value) return;
    const timer = setTimeout(() => {
      done.value = false;
    }, 1_800);
    return () => clearTimeout(timer);
  }, [done.value]);

  async function copy() {
    done.value = await copyText(typeof text === 'string' ? text : text());
    notify(done.value ? t('copied') : t('copyFailed'));
  }

  return (
    <button
      type="button"
      class={compact ? 'button round' : 'button'}
      onClick={copy}
      disabled={disabled}
      title={compact ? label : undefined}
      aria-label={compact ? label : undefined}
      data-done={done.value || undefined}
    >
      <Icon name={done.value ? 'check' : icon} />
      {!compact && label}
    </button>
  );
}
