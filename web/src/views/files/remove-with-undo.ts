/** Removes files and offers Undo until the server erases them. Files that are removed in a row share one message. */
import type { Signal } from '@preact/signals';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';

type Remove = (file: SharedFile, byKeyboard: boolean) => Promise<void>;

/** The server erases a removed file after 60 seconds; the request to restore it needs some of them. */
const restorableMs = 56_000;

/** `hidden`: the ids of files that the page no longer shows, while the server still lists them. */
export function createRemoval(room: RoomModel, hidden: Signal<ReadonlySet<string>>): Remove {
  let removed: readonly SharedFile[] = [];
  let dismiss = () => false;
  room.content.subscribe(({ files }) => {
    const listed = [...hidden.peek()].filter((id) => files.some(({ fileId }) => fileId === id));
    if (listed.length < hidden.peek().size) hidden.value = new Set(listed);
  });

  function show(takesFocus: boolean): void {
    const [file] = removed;
    if (!file) return;
    const n = removed.length;
    const text = n === 1 ? t('fileRemoved', { name: file.fileName }) : t('filesRemoved', { n });
    dismiss = notify(text, { undo, ms: restorableMs, takesFocus });
  }

  function undo(): void {
    const files = removed;
    removed = [];
    for (const file of files) {
      unhide(file);
      void room.restoreFile(file);
    }
  }

  function unhide({ fileId }: SharedFile): void {
    hidden.value = new Set([...hidden.value].filter((id) => id !== fileId));
  }

  function onErased(file: SharedFile): void {
    if (!removed.includes(file)) return;
    removed = removed.filter((other) => other !== file);
    if (dismiss()) show(false);
  }

  return async (file, byKeyboard) => {
    hidden.value = new Set([...hidden.value, file.fileId]);
    if (!(await room.removeFile(file))) return unhide(file);
    // If the user has closed the message, it does not return.
    removed = dismiss() ? [...removed, file] : [file];
    show(byKeyboard);
    setTimeout(() => onErased(file), restorableMs);
  };
}
