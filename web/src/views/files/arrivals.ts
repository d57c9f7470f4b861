/** Files that others add while the room is open: a message, a highlight, a count in the tab title, and alerts. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { notify } from '../../components/notices.tsx';
import { alertArrival } from '../../device/arrival-alerts.ts';
import { countIfHidden } from '../../device/unseen.ts';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { nameOf } from '../room/devices.tsx';

export interface Arrivals {
  /** The ids of the files to highlight. */
  recent: ReadonlySet<string>;
  /** The name of the device that added a file. */
  adderOf(file: SharedFile): string;
}

const highlightMs = 4_000;

/** `first`: the files that were in the room when it was joined. */
export function useArrivals(room: RoomModel, first: readonly SharedFile[]): Arrivals {
  const { files, devices } = room.content.value;
  // Also of devices that have left the room since.
  const names = useRef(new Map<string, string>()).current;
  for (const device of devices) names.set(device.deviceId, nameOf(device));
  const adderOf = (file: SharedFile) => names.get(file.deviceId ?? '') ?? t('someone');

  const known = useRef(new Set(first.map(({ fileId }) => fileId))).current;
  const recent = useSignal<ReadonlySet<string>>(new Set());
  const message = useRef({ name: '', n: 0, text: '', dismiss: (): boolean => false });

  /** Files that one device adds in a row share one message. */
  function announce(file: SharedFile): void {
    const last = message.current;
    const name = adderOf(file);
    const n = last.name === name && last.dismiss() ? last.n + 1 : 1;
    const text = n === 1 ? t('fileAdded', { name, file: file.fileName }) : t('filesAdded', { name, n });
    message.current = { name, n, text, dismiss: notify(text) };
  }

  function onArrived(file: SharedFile): void {
    announce(file);
    recent.value = new Set([...recent.value, file.fileId]);
    setTimeout(() => {
      recent.value = new Set([...recent.value].filter((id) => id !== file.fileId));
    }, highlightMs);
  }

  useEffect(() => {
    // A file that returns after Undo is known.
    const arrived = files.filter((file) => !known.has(file.fileId) && file.deviceId !== room.deviceId);
    for (const { fileId } of files) known.add(fileId);
    arrived.forEach(onArrived);
    countIfHidden(arrived.length);
    if (arrived.length > 0) alertArrival(message.current.text);
  }, [files]);

  return { recent: recent.value, adderOf };
}
