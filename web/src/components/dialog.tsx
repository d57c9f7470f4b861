/** A modal dialog: the platform's own, with its focus and its Escape. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { Icon } from './icon.tsx';

interface Props {
  title: string;
  onClose: () => void;
  /** For two columns. */
  isWide?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, isWide, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key arrives: a quick Escape is then for the dialog, and not for nothing.
  useLayoutEffect(() => dialog.current?.showModal(), []);

  // At once, with the focus going back to where it was: the platform's own event comes later, and whoever opens the
  // dialog again before it would see it closed.
  function close(event?: Event): void {
    event?.preventDefault();
    dialog.current?.close();
    onClose();
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog is a shortcut; Escape and the button do the same.
    <dialog
      ref={dialog}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-label={title}
      onCancel={close}
      onSubmit={close}
      onClick={({ target }) => {
        if (target === dialog.current) close();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="button round" aria-label={t('close')} onClick={() => close()}>
            <Icon name="close" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
