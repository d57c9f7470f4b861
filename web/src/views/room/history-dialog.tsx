/** The version history: a scrubber with a preview, to restore one version or delete all. */
import { type ReadonlySignal, signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/text/shared-text.ts';
import type { HistoryEntry } from '../../../../src/protocol/types.ts';
import { diffTexts } from '../../../../src/text/diff.ts';
import { useServerNow } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { dateAndTime, timeAgo } from '../../components/time-ago.tsx';
import { nameOf } from '../../device/identity.ts';
import { monospace } from '../../device/preferences.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { size } from '../../i18n/quantities.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { replaceWithUndo } from './text-actions.tsx';
import '../../style/history.css';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { RoomBase } from '../../../../src/client/room.ts';
import { toPoproomError } from '../../server-connection.ts';

interface Props {
  room: RoomModel;
  text: SharedText;
  onClose: () => void;
}

export function HistoryDialog({ room, text, onClose }: Props) {
  const history = useMemo(() => createHistory(room.requests), [room]);
  useEffect(() => void history.load(), [history]);
  const { value: list } = history.list;
  return (
    <Dialog
      title={t('history')}
      onClose={onClose}
      size={list.status === 'loaded' && list.entries.length > 0 ? 'wide' : undefined}
    >
      {list.status === 'loading' && <p class="aside">{t('loading')}</p>}
      {list.status === 'failed' && (
        <>
          <p class="problem" role="alert">
            {errorMessage(list.error)}
          </p>
          <div class="actions">
            <button type="button" class="button" onClick={() => void history.load()}>
              {t('tryAgain')}
            </button>
          </div>
        </>
      )}
      {list.status === 'loaded' &&
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
  const preview = history.preview.value;
  const isConfirming = useSignal(false);
  const isCurrent = preview.status === 'loaded' && preview.content === text.value;

  function onRestore() {
    if (preview.status !== 'loaded') return;
    onClose();
    replaceWithUndo(text, preview.content, t('restored'));
  }

  return (
    <>
      <div class="history">
        <Scrubber room={room} history={history} entries={entries} />
        <Preview history={history} current={text.value} />
        <p class="aside">{t('historyMarks')}</p>
      </div>
      {isConfirming.value ? (
        <DeleteConfirmation
          history={history}
          onCancel={() => {
            isConfirming.value = false;
          }}
        />
      ) : (
        <form method="dialog" class="actions spread">
          <button
            type="button"
            class="button quiet danger"
            onClick={() => {
              isConfirming.value = true;
            }}
          >
            {t('deleteHistory')}
          </button>
          {isCurrent && <span class="aside">{t('currentVersion')}</span>}
          <button
            type="submit"
            class="button primary"
            disabled={preview.status !== 'loaded' || isCurrent}
            onClick={onRestore}
          >
            {t('restore')}
          </button>
        </form>
      )}
    </>
  );
}

/** From the oldest version to the newest. */
function Scrubber({ room, history, entries }: Pick<VersionsProps, 'room' | 'history' | 'entries'>) {
  const now = useServerNow();
  const oldestFirst = entries.toReversed();
  const index = oldestFirst.findIndex(({ version }) => version === history.selected.value);
  const entry = oldestFirst[index];
  if (!entry) return null;
  const ago = timeAgo(now - Date.parse(entry.timestamp));
  return (
    <div class="scrubber">
      <input
        type="range"
        aria-label={t('versions')}
        aria-valuetext={[ago, size(entry.size), authorOf(room, entry)].filter(Boolean).join(', ')}
        min={0}
        max={entries.length - 1}
        value={index}
        disabled={entries.length === 1}
        onInput={({ currentTarget }) => {
          const chosen = oldestFirst[currentTarget.valueAsNumber];
          if (chosen) history.select(chosen.version);
        }}
      />
      <Version room={room} entry={entry} ago={ago} />
    </div>
  );
}

function Version({ room, entry, ago }: { room: RoomModel; entry: HistoryEntry; ago: string }) {
  const author = authorOf(room, entry);
  return (
    <p class="version">
      <time dateTime={entry.timestamp}>{ago}</time>
      <small>{dateAndTime(new Date(entry.timestamp))}</small>
      <small>
        {size(entry.size)}
        {author && (
          <>
            {' · '}
            <bdi>{author}</bdi>
          </>
        )}
      </small>
    </p>
  );
}

/** Empty if unknown: the request named no device, or the device has left the room. */
function authorOf(room: RoomModel, { deviceId: author }: HistoryEntry): string {
  if (author === room.deviceId) return t('thisDevice');
  const device = room.content.value.devices.find((device) => device.deviceId === author);
  return device ? nameOf(device) : '';
}

function Preview({ history, current }: { history: History; current: string }) {
  const preview = history.preview.value;
  const isEmpty = preview.status === 'loaded' && preview.content === '';
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
    <section class="preview" aria-label={t('preview')} aria-busy={preview.status === 'loading'} tabIndex={0}>
      {preview.status === 'failed' && (
        <p class="problem" role="alert">
          {errorMessage(preview.error)}
        </p>
      )}
      {isEmpty && <p class="aside">{t('emptyVersion')}</p>}
      {preview.status === 'loaded' && !isEmpty && (
        <pre data-mono={monospace.value || undefined} dir="auto">
          <Marked before={current} after={preview.content} />
        </pre>
      )}
    </section>
  );
}

/** The text after restoring it, with what that adds and removes. */
function Marked({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => shortened(partsOf(before, after)), [before, after]);
  return (
    <>
      {parts.map(({ kind, text }, index) => {
        const Mark = kind;
        return Mark === 'same' ? text : <Mark key={index}>{text}</Mark>;
      })}
    </>
  );
}

interface Part {
  kind: 'same' | 'ins' | 'del';
  text: string;
}

function partsOf(before: string, after: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const { from, to, insert } of diffTexts(before, after)) {
    parts.push({ kind: 'same', text: before.slice(end, from) });
    parts.push({ kind: 'del', text: before.slice(from, to) }, { kind: 'ins', text: insert });
    end = to;
  }
  parts.push({ kind: 'same', text: before.slice(end) });
  return parts.filter(({ text }) => text !== '');
}

/** A longer preview would take long to lay out. */
const maxPreviewLength = 20_000;
/** So that the next difference is near. */
const maxSameLength = 4_000;

function shortened(parts: readonly Part[]): Part[] {
  const shown: Part[] = [];
  let space = maxPreviewLength;
  for (const { kind, text } of parts) {
    if (space <= 0) break;
    const half = maxSameLength / 2;
    const isLong = kind === 'same' && text.length > maxSameLength && parts.length > 1;
    const shorter = isLong ? `${text.slice(0, half)}\n…\n${text.slice(-half)}` : text;
    shown.push({ kind, text: shorter.length > space ? `${shorter.slice(0, space)}…` : shorter });
    space -= shorter.length;
  }
  return shown;
}

function DeleteConfirmation({ history, onCancel }: { history: History; onCancel: () => void }) {
  const cancel = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => cancel.current?.focus(), []);
  const error = history.deleteError.value;
  return (
    <div class="confirmation">
      <p id="delete-history">{t('deleteHistoryHint')}</p>
      {error && (
        <p class="problem" role="alert">
          {errorMessage(error)}
        </p>
      )}
      <div class="actions">
        <button type="button" class="button" ref={cancel} aria-describedby="delete-history" onClick={onCancel}>
          {t('cancel')}
        </button>
        <button type="button" class="button danger filled" onClick={() => void history.deleteAll()}>
          {t('delete')}
        </button>
      </div>
    </div>
  );
}

type Loading<T> = { status: 'loading' } | { status: 'failed'; error: PoproomError } | ({ status: 'loaded' } & T);

interface History {
  readonly list: ReadonlySignal<Loading<{ entries: readonly HistoryEntry[] }>>;
  readonly selected: ReadonlySignal<number | undefined>;
  /** The text of the selected version. */
  readonly preview: ReadonlySignal<Loading<{ content: string }>>;
  readonly deleteError: ReadonlySignal<PoproomError | undefined>;
  load(): Promise<void>;
  select(version: number): void;
  deleteAll(): Promise<void>;
}

/** Each text is a request, so those that a scrubber only passes are not loaded. */
const scrubPauseMs = 200;

/** The version history of a room's text. The text of a version is loaded when it is selected. */
function createHistory(requests: () => Promise<Pick<RoomBase, 'history' | 'historyText' | 'clearHistory'>>): History {
  const list = signal<Loading<{ entries: readonly HistoryEntry[] }>>({ status: 'loading' });
  const selected = signal<number | undefined>(undefined);
  const preview = signal<Loading<{ content: string }>>({ status: 'loading' });
  const deleteError = signal<PoproomError | undefined>(undefined);
  const contents = new Map<number, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function load(): Promise<void> {
    list.value = { status: 'loading' };
    try {
      const entries = await (await requests()).history();
      list.value = { status: 'loaded', entries };
      if (entries[0]) {
        selected.value = entries[0].version;
        await loadText(entries[0].version);
      }
    } catch (error) {
      list.value = { status: 'failed', error: toPoproomError(error) };
    }
  }

  function select(version: number): void {
    selected.value = version;
    const content = contents.get(version);
    preview.value = content === undefined ? { status: 'loading' } : { status: 'loaded', content };
    clearTimeout(timer);
    if (content === undefined) timer = setTimeout(loadText, scrubPauseMs, version);
  }

  async function loadText(version: number): Promise<void> {
    try {
      const { content } = await (await requests()).historyText(version);
      contents.set(version, content);
      if (selected.value === version) preview.value = { status: 'loaded', content };
    } catch (error) {
      if (selected.value === version) preview.value = { status: 'failed', error: toPoproomError(error) };
    }
  }

  return {
    list,
    selected,
    preview,
    deleteError,
    load,
    select,

    async deleteAll() {
      deleteError.value = undefined;
      try {
        await (await requests()).clearHistory();
        list.value = { status: 'loaded', entries: [] };
      } catch (error) {
        deleteError.value = toPoproomError(error);
      }
    },
  };
}
