/** A button that copies text or an image, and shows a check mark for a moment. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { Button, IconButton, type IconName } from './controls.tsx';
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
    const timer = setTimeout(() => (isDone.value = false), 1_800);
    return () => clearTimeout(timer);
  }, [isDone.value]);

  async function onClick() {
    isDone.value = await (png ? copyImage(png()) : copyText(typeof text === 'string' ? text : text()));
    notify(isDone.value ? t('copied') : t('copyFailed'));
  }

  const Look = compact ? IconButton : Button;
  return (
    <Look
      label={label}
      icon={isDone.value ? 'check' : icon}
      onClick={onClick}
      disabled={disabled}
      data-done={isDone.value || undefined}
    />
  );
}

/** Clipboard access, with a fallback for plain HTTP, where browsers disable the Clipboard API. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Undefined if the user or the browser denies access, and over plain HTTP. */
export async function readClipboard() {
  try {
    const { clipboard } = navigator;
    if (typeof clipboard.read !== 'function') return { text: await clipboard.readText(), image: undefined };
    return await contentOf(await clipboard.read());
  } catch {
    return undefined;
  }
}

/** Office programs copy an image along with text. In this case the user wants the text. */
async function contentOf(items: ClipboardItems) {
  const find = async (pattern: RegExp) => {
    const item = items.find(({ types }) => types.some((type) => pattern.test(type)));
    return item?.getType(item.types.find((type) => pattern.test(type)) as string);
  };
  const text = (await (await find(/^text\/plain$/))?.text()) ?? '';
  const image = text === '' ? await find(/^image\//) : undefined;
  return { text, image: image && new File([image], `image.${image.type.slice(6)}`, { type: image.type }) };
}

/** Browsers offer it in secure contexts only. */
export const canCopyImages = (): boolean =>
  typeof ClipboardItem === 'function' && typeof navigator.clipboard?.write === 'function';

/** Takes a promise, because Safari allows access only during the click. */
function copyImage(png: Promise<Blob>): Promise<boolean> {
  return navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]).then(
    () => true,
    () => false,
  );
}

/** The legacy command, which works after any click. */
function copyBySelection(text: string): boolean {
  const look = { readOnly: true, className: 'visually-hidden' };
  const field = Object.assign(document.createElement('textarea'), { value: text, ...look });
  const focused = document.activeElement as HTMLElement | null;
  // Elements outside an open modal dialog are inert and cannot be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return done;
}
