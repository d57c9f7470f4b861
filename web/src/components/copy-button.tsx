/** A button that copies text or an image, and shows a check mark for a moment. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { copyImage, copyText } from './clipboard.ts';
import { Icon, type IconName } from './icon.tsx';
import { notify } from './notices.tsx';

interface Props {
  /** A function if the text is expensive to produce. */
  text?: string | (() => string);
  /** An image to copy instead, if `canCopyImages`. */
  png?: () => Promise<Blob>;
  /** The visible label, or the accessible name if compact. */
  label: string;
  icon?: IconName;
  /** Shows only the icon. */
  compact?: boolean;
  disabled?: boolean;
}

export function CopyButton({ text = '', png, label, icon = 'copy', compact, disabled }: Props) {
  const isDone = useSignal(false);
  useEffect(() => {
    if (!isDone.value) return;
    const timer = setTimeout(() => {
      isDone.value = false;
    }, 1_800);
    return () => clearTimeout(timer);
  }, [isDone.value]);

  async function onClick() {
    isDone.value = await (png ? copyImage(png()) : copyText(typeof text === 'string' ? text : text()));
    notify(isDone.value ? t('copied') : t('copyFailed'));
  }

  return (
    <button
      type="button"
      class={compact ? 'button round' : 'button'}
      onClick={onClick}
      disabled={disabled}
      title={compact ? label : undefined}
      aria-label={compact ? label : undefined}
      data-done={isDone.value || undefined}
    >
      <Icon name={isDone.value ? 'check' : icon} />
      {!compact && label}
    </button>
  );
}
