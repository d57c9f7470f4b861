/** A button that copies text and shows a check mark for a moment. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { copyText } from './clipboard.ts';
import { Icon, type IconName } from './icon.tsx';
import { notify } from './notices.tsx';

interface Props {
  /** A function if the text is expensive to produce. */
  text: string | (() => string);
  /** The visible label, or the accessible name if compact. */
  label: string;
  icon?: IconName;
  /** Shows only the icon. */
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
