/** Which file the viewer shows: the user moves along the list, while others add and remove files. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { SharedFile } from '../../room/room-phase.ts';

export interface CurrentFile {
  /** Undefined while another file takes the place of a removed one. */
  file: SharedFile | undefined;
  index: number;
  /** Moves by a number of files, but not beyond the ends of the list. */
  move(step: number): void;
}

/** `onNone` is called when no file is left to show. */
export function useCurrentFile(files: readonly SharedFile[], firstId: string, onNone: () => void): CurrentFile {
  const currentId = useSignal(firstId);
  const indexOf = (id: string) => files.findIndex(({ fileId }) => fileId === id);
  const index = indexOf(currentId.value);
  const file = files[index];
  const last = useRef<{ file: SharedFile; index: number }>(undefined);

  // Someone has removed the file: show the one that followed it.
  useLayoutEffect(() => {
    if (file) {
      last.current = { file, index };
      return;
    }
    if (last.current) notify(t('fileWasRemoved', { name: last.current.file.fileName }));
    const next = last.current && files[Math.min(last.current.index, files.length - 1)];
    if (next) currentId.value = next.fileId;
    else onNone();
  });

  return {
    file,
    index,
    move(step) {
      // The current value, because a second key may come before the next rendering.
      const next = files[indexOf(currentId.peek()) + step];
      if (next) currentId.value = next.fileId;
    },
  };
}
