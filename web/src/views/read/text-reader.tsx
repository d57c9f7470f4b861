/** The text of a room without its field: the read view, and the display mode of a television or a projector. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, IconButton } from '../../components/controls.tsx';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { QrCode } from '../../components/qr-code.tsx';
import { showText, textViewOf } from '../../device/text-view.ts';
import { t } from '../../i18n/all-strings.ts';
import type { TextModel } from '../../room/room-phase.ts';
import { previewOf } from '../files/file-kind.ts';
import { newestFirst } from '../files/file-links.tsx';
import { Code, linkOf } from '../room/invite-options.tsx';
import type { TextViewProps } from '../room/shared-field.ts';
import { LiveReadView } from './read-view.tsx';

const Preview = lazy(() => import('../viewer/viewer.tsx'), 'Preview');

export function TextReader({ field, ...props }: TextViewProps) {
  const edit = () => {
    showText(props.room.code, 'edit');
    focusWhenShown(field);
  };
  const isDisplay = textViewOf(props.room.code).value === 'display';
  return isDisplay ? <Display {...props} onEdit={edit} /> : <Reading {...props} onEdit={edit} />;
}

/** The field is shown with the next rendering. */
function focusWhenShown(field: TextViewProps['field']): void {
  if (field.current?.hidden) setTimeout(focusWhenShown, 0, field);
  else field.current?.focus();
}

type ViewProps = Omit<TextViewProps, 'field'> & { onEdit: () => void };

/** As high as it is whatever others write, so that nothing below it moves. */
function Reading({ room, text, onEdit }: ViewProps) {
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => section.current?.focus(), []);
  return (
    <div class="reading">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too */}
      <section aria-label={t('readView')} tabIndex={0} ref={section}>
        <LiveReadView room={room} text={text.shared} files={room.content.value.files} />
      </section>
      <Button label={t('edit')} onClick={onEdit} />
    </div>
  );
}

/** With more devices in the room, an invitation would only cover the text. */
const maxInvited = 3;

function Display({ room, text, onEdit }: ViewProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { files, devices } = room.content.value;
  const image = newestFirst(files).find((file) => previewOf(file) === 'image');
  const isImage = useNewest(text, image?.fileId);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // As soon as it is shown: the browser delays other effects in a tab that is not in front.
  useLayoutEffect(() => onAnyKey(onEdit), []);
  useEffect(() => keepAwake(), []);
  return (
    <dialog class="display" ref={dialog} aria-label={t('displayMode')} tabIndex={-1} onCancel={onEdit}>
      {isImage && image ? (
        <div class="display-image">
          <Preview key={image.fileId} room={room} file={image} />
        </div>
      ) : (
        <DisplayedText room={room} text={text} />
      )}
      <IconButton icon="close" label={t('edit')} onClick={onEdit} />
      <p class="aside">{t('displayHint')}</p>
      {devices.length <= maxInvited && (
        <aside>
          <QrCode text={linkOf(room)} label={t('qrLabel')} />
          <Code code={room.code} />
        </aside>
      )}
    </dialog>
  );
}

/** Short texts are larger. */
function DisplayedText({ room, text }: Omit<ViewProps, 'onEdit'>) {
  if (text.isEmpty.value) return <p class="display-empty">{t('displayEmpty')}</p>;
  const { length } = text.shared.value;
  return (
    <div class="display-text" data-size={length < 100 ? 'huge' : length < 600 ? 'large' : undefined}>
      <LiveReadView room={room} text={text.shared} files={room.content.value.files} />
    </div>
  );
}

/** Whether the newest image came after the latest change of the text. At first, a text is shown if there is one. */
function useNewest({ shared }: TextModel, imageId: string | undefined): boolean {
  const isImage = useSignal(shared.value === '');
  const known = useRef(imageId);
  useEffect(() => {
    if (imageId !== undefined && imageId !== known.current) isImage.value = true;
    known.current = imageId;
  }, [imageId]);
  useEffect(() => shared.on('change', () => (isImage.value = shared.value === '')), [shared]);
  return isImage.value;
}

/** Not keys that are part of a shortcut, such as that of the browser's search. */
function onAnyKey(act: () => void): () => void {
  return listen('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || /^(Shift|Control|Alt|Meta|F\d+)/.test(key)) return;
    event.preventDefault();
    act();
  });
}

/** Browsers release the lock of a hidden page. Those without it let the screen sleep. */
function keepAwake(): () => void {
  let lock: WakeLockSentinel | undefined;
  const request = async () => {
    if (document.visibilityState !== 'visible') return;
    lock = await navigator.wakeLock?.request('screen').catch(() => undefined);
  };
  void request();
  document.addEventListener('visibilitychange', request);
  return () => {
    document.removeEventListener('visibilitychange', request);
    void lock?.release();
  };
}
