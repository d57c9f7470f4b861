/** Files that others add while the room is open: a message, a highlight, a count in the tab title, and alerts. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { notify } from '../../components/notices.tsx';
import { deviceId } from '../../device/identity.ts';
import { countIfHidden } from '../../device/unseen.ts';
import { t } from '../../i18n/index.ts';
import type { RoomContent, SharedFile } from '../../room/room-phase.ts';
import { nameOf } from './devices.tsx';
import { loadFileParts } from './file-parts.tsx';

export interface Arrivals {
  /** The ids of the files to highlight. */
  recent: ReadonlySet<string>;
  /** The name of the device that added a file. */
  adderOf(file: SharedFile): string;
}

const highlightMs = 4_000;

/** The sound and the notification, if the user has chosen them. */
async function alertArrival(text: string): Promise<void> {
  const parts = await loadFileParts().catch(() => undefined);
  parts?.alertArrival(text);
}

export function useArrivals({ files, devices }: RoomContent): Arrivals {
  // Also of devices that have left the room since.
  const names = useRef(new Map<string, string>()).current;
  for (const device of devices) names.set(device.deviceId, nameOf(device));
  const adderOf = (file: SharedFile) => names.get(file.deviceId ?? '') ?? t('someone');

  const known = useRef<Set<string>>(undefined);
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
    const before = known.current;
    const arrived = files.filter((file) => before && !before.has(file.fileId) && file.deviceId !== deviceId);
    known.current = new Set([...(before ?? []), ...files.map(({ fileId }) => fileId)]);
    arrived.forEach(onArrived);
    countIfHidden(arrived.length);
    if (arrived.length > 0) void alertArrival(message.current.text);
  }, [files]);

  return { recent: recent.value, adderOf };
}
