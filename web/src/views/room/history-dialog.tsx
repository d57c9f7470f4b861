/** The version history: a scrubber with a preview, to restore one version or delete all. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/text/shared-text.ts';
import type { HistoryEntry } from '../../../../src/protocol/types.ts';
import { diffTexts } from '../../../../src/text/diff.ts';
import { Button, Problem } from '../../components/controls.tsx';
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
import { toPoproomError } from '../../server-connection.ts';

type Props = { room: RoomModel; text: SharedText; onClose: () => void };

export function HistoryDialog({ room, text, onClose }: Props) {
  const history = useMemo(() => createHistory(room.requests), [room]);
  useEffect(() => void history.load(), [history]);
  const { value: list } = history.list;
  const entries = list.status === 'loaded' ? list.entries : undefined;
  return (
    <Dialog title={t('history')} onClose={onClose} size={entries?.[0] && 'wide'}>
      {list.status === 'loading' && <p class="aside">{t('loading')}</p>}
      {list.status === 'failed' && <Problem>{errorMessage(list.error)}</Problem>}
      {list.status === 'failed' && (
        <div class="actions">
          <Button label={t('tryAgain')} onClick={() => void history.load()} />
        </div>
      )}
      {entries?.length === 0 && <p>{t('historyEmpty')}</p>}
      {entries?.[0] && <Versions room={room} history={history} entries={entries} text={text} onClose={onClose} />}
    </Dialog>
  );
}

type VersionsProps = Props & { history: History; entries: readonly HistoryEntry[] };

function Versions({ room, history, entries, text, onClose }: VersionsProps) {
  const preview = history.preview.value;
  const content = preview.status === 'loaded' ? preview.content : undefined;
  const isConfirming = useSignal(false);
  const isCurrent = content === text.value;
  const canRestore = content !== undefined && !isCurrent;

  function onRestore() {
    onClose();
    replaceWithUndo(text, content ?? '', t('restored'));
  }

  return (
    <>
      <div class="history">
        <Scrubber room={room} history={history} entries={entries} />
        <Preview history={history} current={text.value} />
        <p class="aside">{t('historyMarks')}</p>
      </div>
      {isConfirming.value ? (
        <DeleteConfirmation history={history} onCancel={() => (isConfirming.value = false)} />
      ) : (
        <form method="dialog" class="actions spread">
          <Button class="quiet danger" label={t('deleteHistory')} onClick={() => (isConfirming.value = true)} />
          {isCurrent && <span class="aside">{t('currentVersion')}</span>}
          <Button type="submit" class="primary" label={t('restore')} disabled={!canRestore} onClick={onRestore} />
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
  const author = authorOf(room, entry);
  return (
    <div class="scrubber">
      <input
        type="range"
        aria-label={t('versions')}
        aria-valuetext={[ago, size(entry.size), author].filter(Boolean).join(', ')}
        min={0}
        max={entries.length - 1}
        value={index}
        disabled={entries.length === 1}
        onInput={({ currentTarget }) => {
          const chosen = oldestFirst[currentTarget.valueAsNumber];
          if (chosen) history.select(chosen.version);
        }}
      />
      <p class="version">
        <time dateTime={entry.timestamp}>{ago}</time>
        <small>{dateAndTime(new Date(entry.timestamp))}</small>
        <small>
          {size(entry.size)}
          {author && ' · '}
          {author && <bdi>{author}</bdi>}
        </small>
      </p>
    </div>
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
      {preview.status === 'failed' && <Problem>{errorMessage(preview.error)}</Problem>}
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
  return <>{parts.map(({ kind: Mark, text }, index) => (Mark === 'same' ? text : <Mark key={index}>{text}</Mark>))}</>;
}

type Part = { kind: 'same' | 'ins' | 'del'; text: string };

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
      {error && <Problem>{errorMessage(error)}</Problem>}
      <div class="actions">
        <Button label={t('cancel')} ref={cancel} aria-describedby="delete-history" onClick={onCancel} />
        <Button class="danger filled" label={t('delete')} onClick={() => void history.deleteAll()} />
      </div>
    </div>
  );
}

type Loading<T> = { status: 'loading' } | { status: 'failed'; error: PoproomError } | ({ status: 'loaded' } & T);

type History = ReturnType<typeof createHistory>;

/** Each text is a request, so those that a scrubber only passes are not loaded. */
const scrubPauseMs = 200;

/** The version history of a room's text. The text of a version is loaded when it is selected. */
function createHistory(requests: RoomModel['requests']) {
  const list = signal<Loading<{ entries: readonly HistoryEntry[] }>>({ status: 'loading' });
  const selected = signal<number | undefined>(undefined);
  /** The text of the selected version. */
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

  async function deleteAll(): Promise<void> {
    deleteError.value = undefined;
    try {
      await (await requests()).clearHistory();
      list.value = { status: 'loaded', entries: [] };
    } catch (error) {
      deleteError.value = toPoproomError(error);
    }
  }

  return { list, selected, preview, deleteError, load, select, deleteAll };
}
