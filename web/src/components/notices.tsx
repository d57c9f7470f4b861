/** Short messages that disappear after a few seconds. Some offer Undo. Screen readers announce them. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/strings.ts';
import { Button } from './controls.tsx';
import { listen } from './listen.ts';

interface NoticeOptions {
  undo?: (() => void) | undefined;
  /** How long the message is shown. */
  ms?: number;
  /** Moves the focus to Undo, for a user whose focused element has disappeared. */
  takesFocus?: boolean;
}

type Notice = NoticeOptions & { id: number; text: string };

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
    const place = async () => {
      // Without the code (offline), messages stay at the bottom of the screen.
      const placing = await import('./notice-place.ts').catch(() => undefined);
      if (box.current) placing?.avoidControls(box.current);
    };
    void place();
    return listen('scroll', place);
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

function UndoButtons({ notice }: { notice: Notice }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (notice.takesFocus) button.current?.focus();
  }, []);

  function undo(): void {
    notice.undo?.();
    dismiss(notice);
  }
  return (
    <>
      <Button class="quiet" label={t('undo')} ref={button} onClick={undo} />
      <Button class="round" icon="close" aria-label={t('close')} onClick={() => dismiss(notice)} />
    </>
  );
}

/** What has arrived while the page is hidden, for the tab title. */
export const unseenCount = signal(0);

export function countIfHidden(arrivals: number): void {
  if (document.visibilityState === 'hidden') unseenCount.value += arrivals;
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') unseenCount.value = 0;
});
