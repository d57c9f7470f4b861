/** A modal dialog, based on the native <dialog> with its focus trap and Escape key. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { Button } from './controls.tsx';
import '../style/dialogs.css';
import '../style/forms.css';

interface Props {
  title: string;
  onClose: () => void;
  /** Wide enough for two columns, or as large as the screen. */
  size?: 'wide' | 'full' | undefined;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, size, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Open before the next key event, so that a quick Escape reaches the dialog.
  useLayoutEffect(() => {
    const element = dialog.current as HTMLDialogElement;
    element.showModal();
    // By default, the browser would focus the close button. An input would open the keyboard of a phone.
    (element.querySelector('textarea') ?? element.querySelector('h2'))?.focus();
    // Also restores the focus.
    return () => element.close();
  }, []);

  // Close synchronously to restore the focus. The native close event fires later and would close a dialog that was
  // reopened in between.
  function close(event?: Event): void {
    event?.preventDefault();
    dialog.current?.close();
    onClose();
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog is a shortcut; Escape and the button do the same.
    <dialog
      ref={dialog}
      class={`dialog ${size ?? ''}`}
      aria-label={title}
      onCancel={close}
      onSubmit={close}
      onClick={({ target }) => target === dialog.current && close()}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 tabIndex={-1}>{title}</h2>
          <Button class="round" icon="close" aria-label={t('close')} onClick={() => close()} />
        </div>
        {children}
      </div>
    </dialog>
  );
}
