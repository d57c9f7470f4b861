/** Short messages that disappear after a few seconds. Some offer Undo. Screen readers announce them. */
import { signal } from '@preact/signals';
import { t } from '../i18n/index.ts';

interface Notice {
  id: number;
  text: string;
  undo: (() => void) | undefined;
}

const notices = signal<readonly Notice[]>([]);
const shownMs = 5_000;
/** Long enough to reach the button by keyboard. */
const undoableMs = 12_000;
const maxNotices = 3;
let count = 0;

/** Returns a function that dismisses the message early. */
export function notify(text: string, undo?: () => void): () => void {
  const notice = { id: ++count, text, undo };
  const others = notices.value.filter((other) => other.undo !== undefined || other.text !== text);
  // A plain message must not push out one that offers Undo.
  const recent = others.filter((other, i) => other.undo !== undefined || i > others.length - maxNotices);
  notices.value = [...recent, notice];
  setTimeout(() => dismiss(notice), undo ? undoableMs : shownMs);
  return () => dismiss(notice);
}

/** The user has left the room that these messages would change. */
export function dismissUndoNotices(): void {
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
