/** Short messages that disappear after a few seconds. Some offer Undo. Screen readers announce them. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { Icon } from './icon.tsx';

interface NoticeOptions {
  undo?: (() => void) | undefined;
  /** How long the message is shown. */
  ms?: number;
  /** Moves the focus to Undo, for a user whose focused element has disappeared. */
  takesFocus?: boolean;
}

interface Notice extends NoticeOptions {
  id: number;
  text: string;
}

const notices = signal<readonly Notice[]>([]);
const shownMs = 5_000;
/** Long enough to reach the button by keyboard. */
const undoableMs = 12_000;
const maxNotices = 2;
let count = 0;

/** Returns a function that dismisses the message early, and returns whether it was still shown. */
export function notify(text: string, options: NoticeOptions = {}): () => boolean {
  const notice = { id: ++count, text, ...options };
  const others = notices.value.filter((other) => other.undo !== undefined || other.text !== text);
  // A plain message must not push out one that offers Undo.
  const recent = others
    .filter((other, i) => other.undo !== undefined || i > others.length - maxNotices)
    .slice(1 - maxNotices);
  notices.value = [...recent, notice];
  setTimeout(() => dismiss(notice), options.ms ?? (options.undo ? undoableMs : shownMs));
  return () => dismiss(notice);
}

/** The user has left the room that these messages would change. */
export function dismissUndoNotices(): void {
  notices.value = notices.value.filter(({ undo }) => undo === undefined);
}

function dismiss(notice: Notice): boolean {
  const others = notices.value.filter(({ id }) => id !== notice.id);
  const wasShown = others.length < notices.value.length;
  if (wasShown) notices.value = others;
  return wasShown;
}

export function Notices() {
  const box = useRef<HTMLDivElement>(null);
  const isEmpty = notices.value.length === 0;
  useLayoutEffect(() => {
    if (isEmpty) return;
    const place = () => box.current && avoidControls(box.current);
    place();
    addEventListener('scroll', place);
    return () => removeEventListener('scroll', place);
  }, [notices.value]);
  return (
    <div class="notices" role="status" ref={box}>
      {notices.value.map((notice) => (
        <div class="notice" key={notice.id}>
          <span class="notice-text">{notice.text}</span>
          {notice.undo && <UndoButtons notice={notice} />}
        </div>
      ))}
    </div>
  );
}

const stepPx = 8;

/** Moves the messages up from the bottom of the screen until they cover nothing that one can press. */
function avoidControls(box: HTMLElement): void {
  box.style.translate = '';
  const messages = [...box.children].map((message) => message.getBoundingClientRect());
  const controls = [...document.querySelectorAll('a, button, input, select, summary')]
    .filter((control) => !box.contains(control))
    .map((control) => control.getBoundingClientRect());
  const covers = (lift: number) =>
    messages.some((message) =>
      controls.some(
        ({ left, right, top, bottom }) =>
          left < message.right && right > message.left && top < message.bottom - lift && bottom > message.top - lift,
      ),
    );
  for (let lift = 0; lift < (messages[0]?.top ?? 0); lift += stepPx) {
    if (covers(lift)) continue;
    box.style.translate = `0 ${-lift}px`;
    return;
  }
}

function UndoButtons({ notice }: { notice: Notice }) {
  const undo = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (notice.takesFocus) undo.current?.focus();
  }, []);
  return (
    <>
      <button
        ref={undo}
        type="button"
        class="button quiet"
        onClick={() => {
          notice.undo?.();
          dismiss(notice);
        }}
      >
        {t('undo')}
      </button>
      <button type="button" class="button round" aria-label={t('close')} onClick={() => dismiss(notice)}>
        <Icon name="close" />
      </button>
    </>
  );
}
