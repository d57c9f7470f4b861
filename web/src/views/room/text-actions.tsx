/** Actions on the whole text: their menu, the version history, and what is kept of it. Loaded on demand. */
import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { SharedText } from '../../../../src/client/text/shared-text.ts';
import type { HistoryEntry } from '../../../../src/protocol/types.ts';
import { diffTexts } from '../../../../src/text/diff.ts';
import { Button, Problem } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { useServerNow } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { takeFocus } from '../../components/keep-focus.ts';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { notify } from '../../components/notices.tsx';
import { dateAndTime, timeAgo } from '../../components/time-ago.tsx';
import { nameOf } from '../../device/identity.ts';
import { monospace } from '../../device/preferences.ts';
import { showText, textViewOf } from '../../device/text-view.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage, size } from '../../i18n/strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { type Loading, load } from '../requests.ts';
import type { TextViewProps } from './shared-field.ts';
import '../../style/history.css';
import '../../style/print.css';

type MenuProps = TextViewProps & { anchor: Signal<HTMLElement | undefined> };

/** The menu beside Copy and Paste. A new entry goes into the list; a dialog that it opens is rendered here. */
export function TextMenu({ anchor, room, text, field }: MenuProps) {
  const isHistoryOpen = useSignal(false);
  const isEmpty = text.isEmpty.value;
  const isReading = textViewOf(room.code).value === 'read';
  const toggleReading = () => showText(room.code, isReading ? 'edit' : 'read');
  const toggleFont = () => (monospace.value = !monospace.value);
  const save = () => saveAsFile(room.code, text.shared.value);
  const clear = () => {
    field.current?.focus();
    replaceWithUndo(text.shared, '', t('cleared'));
  };
  const entries: MenuEntry[] = [
    { icon: 'read', label: t('readView'), isChecked: isReading, onSelect: toggleReading },
    { icon: 'screen', label: t('displayMode'), onSelect: () => showText(room.code, 'display') },
    { icon: 'history', label: t('history'), onSelect: () => (isHistoryOpen.value = true) },
    { icon: 'down', label: t('saveText'), isDisabled: isEmpty, onSelect: save },
    { icon: 'print', label: t('print'), isDisabled: isEmpty, onSelect: () => print() },
    { icon: 'mono', label: t('monospace'), isChecked: monospace.value, onSelect: toggleFont },
    { icon: 'erase', label: t('clear'), isDisabled: isEmpty, onSelect: clear },
  ];
  return (
    <>
      <Menu anchor={anchor} label={t('more')} entries={entries} />
      {isHistoryOpen.value && (
        <HistoryDialog room={room} text={text.shared} onClose={() => (isHistoryOpen.value = false)} />
      )}
    </>
  );
}

/** "poproom-7KQ2MX-2026-11-16.txt", with the local date. */
function saveAsFile(code: string, text: string): void {
  const link = document.createElement('a');
  // The Swedish date format is that of ISO 8601.
  link.download = `poproom-${code}-${new Date().toLocaleDateString('sv')}.txt`;
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The text of a room that this page can no longer show, to copy or to save it. */
export function KeptText({ code, text, hint = t('textKept') }: { code: string; text: string; hint?: string }) {
  return (
    <>
      <p>{hint}</p>
      <div class="actions">
        <CopyButton text={text} label={t('copyText')} />
        <Button icon="down" label={t('saveText')} onClick={() => saveAsFile(code, text)} />
      </div>
    </>
  );
}

/** Replaces the whole text and offers Undo until the user edits the text again. */
function replaceWithUndo(text: SharedText, content: string, message: string): void {
  text.replace(content);
  const dismiss = notify(message, { undo: () => undo(text) });
  const stop = text.on('change', ({ origin }) => {
    if (origin === 'remote') return;
    stop();
    dismiss();
  });
}

/** Puts text that others have written since on a line of its own. */
function undo(text: SharedText): void {
  const before = text.value;
  const change = text.undo();
  const [edit, ...others] = change?.edits ?? [];
  if (!edit || others.length > 0 || before === '' || edit.insert === '') return;
  const end = edit.from + edit.insert.length;
  if (edit.from === before.length && !before.endsWith('\n')) text.insert(edit.from, '\n');
  else if (edit.to === 0 && !edit.insert.endsWith('\n')) text.insert(end, '\n');
}

type HistoryProps = { room: RoomModel; text: SharedText; onClose: () => void };

function HistoryDialog({ room, text, onClose }: HistoryProps) {
  const history = useMemo(() => createHistory(room.requests), [room]);
  useEffect(() => void history.load(), [history]);
  const { value: entries, error } = history.list.value;
  return (
    <Dialog title={t('history')} onClose={onClose} size={entries?.[0] && 'wide'}>
      {!entries && !error && <p class="aside">{t('loading')}</p>}
      {error && (
        <>
          <Problem>{errorMessage(error)}</Problem>
          <div class="actions">
            <Button label={t('tryAgain')} onClick={() => void history.load()} />
          </div>
        </>
      )}
      {entries?.length === 0 && <p>{t('historyEmpty')}</p>}
      {entries?.[0] && <Versions room={room} history={history} entries={entries} text={text} onClose={onClose} />}
    </Dialog>
  );
}

type VersionsProps = HistoryProps & { history: History; entries: readonly HistoryEntry[] };

function Versions({ room, history, entries, text, onClose }: VersionsProps) {
  const { value: content } = history.preview.value;
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
  const { value: content, error } = history.preview.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
    <section class="preview" aria-label={t('preview')} aria-busy={content === undefined && !error} tabIndex={0}>
      {error && <Problem>{errorMessage(error)}</Problem>}
      {content === '' && <p class="aside">{t('emptyVersion')}</p>}
      {content && (
        <pre data-mono={monospace.value || undefined} dir="auto">
          <Marked before={current} after={content} />
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
  const error = history.deleteError.value;
  return (
    <div class="confirmation">
      <p id="delete-history">{t('deleteHistoryHint')}</p>
      {error && <Problem>{errorMessage(error)}</Problem>}
      <div class="actions">
        <Button label={t('cancel')} ref={takeFocus} aria-describedby="delete-history" onClick={onCancel} />
        <Button class="danger filled" label={t('delete')} onClick={() => void history.deleteAll()} />
      </div>
    </div>
  );
}

type History = ReturnType<typeof createHistory>;

/** Each text is a request, so those that a scrubber only passes are not loaded. */
const scrubPauseMs = 200;

/** The version history of a room's text. The text of a version is loaded when it is selected. */
function createHistory(requests: RoomModel['requests']) {
  const list = signal<Loading<readonly HistoryEntry[]>>({});
  const selected = signal<number | undefined>(undefined);
  const preview = signal<Loading<string>>({});
  const deleteError = signal<PoproomError | undefined>(undefined);
  const previews = new Map<number, Loading<string>>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function loadList(): Promise<void> {
    list.value = {};
    list.value = await load(async () => (await requests()).history());
    const newest = list.value.value?.[0];
    if (!newest) return;
    selected.value = newest.version;
    await loadText(newest.version);
  }

  function select(version: number): void {
    selected.value = version;
    preview.value = previews.get(version) ?? {};
    clearTimeout(timer);
    if (!previews.has(version)) timer = setTimeout(loadText, scrubPauseMs, version);
  }

  async function loadText(version: number): Promise<void> {
    const loaded = await load(async () => (await (await requests()).historyText(version)).content);
    if (!loaded.error) previews.set(version, loaded);
    if (selected.value === version) preview.value = loaded;
  }

  async function deleteAll(): Promise<void> {
    deleteError.value = undefined;
    const { error } = await load(async () => (await requests()).clearHistory());
    deleteError.value = error;
    if (!error) list.value = { value: [] };
  }

  return { list, selected, preview, deleteError, load: loadList, select, deleteAll };
}
