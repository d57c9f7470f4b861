/** The version history of a room's text. The text of a version is loaded when it is selected. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { PoproomError } from '../../../src/client/error.ts';
import type { HistoryEntry } from '../../../src/client/index.ts';
import type { RoomBase } from '../../../src/client/room.ts';
import { toPoproomError } from '../server.ts';

type Loading<T> = { status: 'loading' } | { status: 'failed'; error: PoproomError } | ({ status: 'loaded' } & T);

export interface History {
  readonly list: ReadonlySignal<Loading<{ entries: readonly HistoryEntry[] }>>;
  readonly selected: ReadonlySignal<number | undefined>;
  /** The text of the selected version. */
  readonly preview: ReadonlySignal<Loading<{ content: string }>>;
  readonly deleteError: ReadonlySignal<PoproomError | undefined>;
  load(): Promise<void>;
  select(version: number): void;
  deleteAll(): Promise<void>;
}

export function createHistory(room: Pick<RoomBase, 'history' | 'historyText' | 'clearHistory'>): History {
  const list = signal<Loading<{ entries: readonly HistoryEntry[] }>>({ status: 'loading' });
  const selected = signal<number | undefined>(undefined);
  const preview = signal<Loading<{ content: string }>>({ status: 'loading' });
  const deleteError = signal<PoproomError | undefined>(undefined);
  const contents = new Map<number, string>();

  async function load(): Promise<void> {
    list.value = { status: 'loading' };
    try {
      const entries = await room.history();
      list.value = { status: 'loaded', entries };
      if (entries[0]) select(entries[0].version);
    } catch (error) {
      list.value = { status: 'failed', error: toPoproomError(error) };
    }
  }

  function select(version: number): void {
    selected.value = version;
    const content = contents.get(version);
    preview.value = content === undefined ? { status: 'loading' } : { status: 'loaded', content };
    if (content === undefined) void loadText(version);
  }

  async function loadText(version: number): Promise<void> {
    try {
      const { content } = await room.historyText(version);
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
        await room.clearHistory();
        list.value = { status: 'loaded', entries: [] };
      } catch (error) {
        deleteError.value = toPoproomError(error);
      }
    },
  };
}
