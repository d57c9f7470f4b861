/** Removes files, with code that is loaded when the first of them is removed. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/index.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { loadFileParts } from './file-parts.tsx';

export interface Removal {
  /** The ids of files that the page no longer shows, while the server still lists them. */
  readonly hidden: ReadonlySignal<ReadonlySet<string>>;
  remove(file: SharedFile, byKeyboard: boolean): Promise<void>;
}

export function useRemoval(room: RoomModel): Removal {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const loading = useRef<Promise<Removal['remove']>>(undefined);

  async function remove(file: SharedFile, byKeyboard: boolean): Promise<void> {
    loading.current ??= loadFileParts().then(({ createRemoval }) => createRemoval(room, hidden));
    try {
      await (await loading.current)(file, byKeyboard);
    } catch {
      loading.current = undefined;
      notify(t('loadFailed'));
    }
  }

  return { hidden, remove };
}
