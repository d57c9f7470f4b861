/** Short messages that come, are read out, and go; some can be taken back. */
import { signal } from '@preact/signals';
import { t } from '../i18n/index.ts';

interface Notice {
  id: number;
  text: string;
  undo: (() => void) | undefined;
}

const notices = signal<readonly Notice[]>([]);
const shownMs = 5_000;
/** Long enough to find the button by keyboard. */
const undoableMs = 12_000;
const mostAtOnce = 3;
let count = 0;

/** Returns how to take the message away before its time. */
export function notify(text: string, undo?: () => void): () => void {
  const notice = { id: ++count, text, undo };
  const others = notices.value.filter((other) => other.undo !== undefined || other.text !== text);
  // What can be taken back is not pushed out by what is only said.
  const recent = others.filter((other, i) => other.undo !== undefined || i > others.length - mostAtOnce);
  notices.value = [...recent, notice];
  setTimeout(() => dismiss(notice), undo ? undoableMs : shownMs);
  return () => dismiss(notice);
}

/** Where they were for, nobody is any more. */
export function dropUndo(): void {
  notices.value = notices.value.filter(({ undo }) => undo === undefined);
}

function dismiss(notice: Notice): void {
  notices.value = notices.value.filter(({ id }) => id !== notice.id);
}

export function Notices() {
  return (
    <div class="notices" role="status">
      {notices.value.map((notice) => (
        <div class="notice" key={notice.id}>
          <span>{notice.text}</span>
          {notice.undo && (
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                notice.undo?.();
                dismiss(notice);
              }}
            >
              {t('undo')}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
