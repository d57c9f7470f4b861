/** Earlier versions of the text: a timeline with a preview, to restore one or to delete them all. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { HistoryEntry, SharedText } from '../../../../src/client/index.ts';
import { Dialog } from '../../components/dialog.tsx';
import { useServerNow } from '../../components/ticking.tsx';
import { deviceId } from '../../device/identity.ts';
import { monospace } from '../../device/preferences.ts';
import { t } from '../../i18n/index.ts';
import { problemText } from '../../i18n/problem.ts';
import { dateAndTime, size, timeAgo } from '../../i18n/quantities.ts';
import { createHistory, type History } from '../../room/history.ts';
import type { RoomState } from '../../room/room.ts';
import { nameOf } from './devices.tsx';
import { replaceUndoably } from './replace-undoably.ts';

interface Props {
  room: RoomState;
  text: SharedText;
  onClose: () => void;
}

export function HistoryDialog({ room, text, onClose }: Props) {
  const history = useMemo(() => createHistory(room), [room]);
  useEffect(() => void history.load(), [history]);
  const { value: list } = history.list;
  return (
    <Dialog title={t('history')} onClose={onClose} isWide={list.is === 'loaded' && list.entries.length > 0}>
      {list.is === 'loading' && <p class="aside">{t('loading')}</p>}
      {list.is === 'failed' && (
        <>
          <p class="problem" role="alert">
            {problemText(list.error)}
          </p>
          <div class="actions">
            <button type="button" class="button" onClick={() => void history.load()}>
              {t('tryAgain')}
            </button>
          </div>
        </>
      )}
      {list.is === 'loaded' &&
        (list.entries.length === 0 ? (
          <p>{t('historyEmpty')}</p>
        ) : (
          <Versions room={room} history={history} entries={list.entries} text={text} onClose={onClose} />
        ))}
    </Dialog>
  );
}

interface VersionsProps extends Props {
  history: History;
  entries: readonly HistoryEntry[];
}

function Versions({ room, history, entries, text, onClose }: VersionsProps) {
  const selected = history.selected.value;
  const preview = history.preview.value;
  const isAsking = useSignal(false);
  const isCurrent = preview.is === 'loaded' && preview.content === text.value;

  function restore() {
    if (preview.is !== 'loaded') return;
    onClose();
    replaceUndoably(text, preview.content, t('restored'));
  }

  return (
    <>
      <div class="history">
        <fieldset class="versions" aria-label={t('versions')}>
          {entries.map((entry) => (
            <label key={entry.version}>
              <input
                type="radio"
                name="version"
                checked={entry.version === selected}
                onChange={() => history.select(entry.version)}
              />
              <Version room={room} entry={entry} />
            </label>
          ))}
        </fieldset>
        <Preview history={history} />
      </div>
      {isAsking.value ? (
        <DeleteQuestion
          history={history}
          onCancel={() => {
            isAsking.value = false;
          }}
        />
      ) : (
        <form method="dialog" class="actions spread">
          <button
            type="button"
            class="button quiet danger"
            onClick={() => {
              isAsking.value = true;
            }}
          >
            {t('deleteHistory')}
          </button>
          {isCurrent && <span class="aside">{t('currentText')}</span>}
          <button
            type="submit"
            class="button primary"
            disabled={preview.is !== 'loaded' || isCurrent}
            onClick={restore}
          >
            {t('restore')}
          </button>
        </form>
      )}
    </>
  );
}

function Version({ room, entry }: { room: RoomState; entry: HistoryEntry }) {
  const at = new Date(entry.timestamp);
  const exact = dateAndTime(at);
  return (
    <span class="version">
      <time dateTime={entry.timestamp}>{timeAgo(useServerNow() - at.getTime())}</time>
      <small>{exact}</small>
      <small>{[size(entry.size), authorOf(room, entry)].filter(Boolean).join(' · ')}</small>
    </span>
  );
}

/** Empty where nobody knows: a request without a device, or one that has left the room. */
function authorOf(room: RoomState, { deviceId: author }: HistoryEntry): string {
  if (author === deviceId) return t('byThisDevice');
  const device = room.devices.value.find((device) => device.deviceId === author);
  return device ? nameOf(device) : '';
}

/** A large text is not shown to its end: laying it out would take long. */
const longestPreview = 20_000;

function Preview({ history }: { history: History }) {
  const preview = history.preview.value;
  const isEmpty = preview.is === 'loaded' && preview.content === '';
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
    <section class="preview" aria-label={t('preview')} aria-busy={preview.is === 'loading'} tabIndex={0}>
      {preview.is === 'failed' && (
        <p class="problem" role="alert">
          {problemText(preview.error)}
        </p>
      )}
      {isEmpty && <p class="aside">{t('emptyText')}</p>}
      {preview.is === 'loaded' && !isEmpty && (
        <pre data-mono={monospace.value || undefined} dir="auto">
          {preview.content.slice(0, longestPreview)}
          {preview.content.length > longestPreview && '…'}
        </pre>
      )}
    </section>
  );
}

function DeleteQuestion({ history, onCancel }: { history: History; onCancel: () => void }) {
  const cancel = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => cancel.current?.focus(), []);
  const error = history.deleteError.value;
  return (
    <div class="question">
      <p id="delete-history">{t('deleteHistoryHint')}</p>
      {error && (
        <p class="problem" role="alert">
          {problemText(error)}
        </p>
      )}
      <div class="actions">
        <button type="button" class="button" ref={cancel} aria-describedby="delete-history" onClick={onCancel}>
          {t('cancelShort')}
        </button>
        <button type="button" class="button danger filled" onClick={() => void history.deleteAll()}>
          {t('deleteShort')}
        </button>
      </div>
    </div>
  );
}
