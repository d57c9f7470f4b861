/** Saves encrypted files. The browser cannot show the progress of such a download, so the file list does. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { PoproomError } from '../../../../src/client/error.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { size } from '../../i18n/quantities.ts';
import { noteFailure } from '../../room/request-limit.ts';
import type { RoomModel } from '../../room/room.ts';
import type { SharedFile } from '../../room/room-phase.ts';
import { createStateMachine, type StateMachine } from '../../room/state-machine.ts';
import { countBytes, type FileTarget } from '../files/save-file.ts';
import { archiveOf } from './archive.ts';
import {
  type DownloadEvent,
  type DownloadSource,
  type DownloadState,
  downloadTransitions,
  type SavingState,
} from './download-state.ts';
import { chooseSealedTarget, maxMemoryBytes } from './sealed-target.ts';

export interface Download extends StateMachine<DownloadState, DownloadEvent> {
  readonly source: DownloadSource;
}

const list = signal<readonly Download[]>([]);

/** Downloads in progress, and failed ones. */
export const downloads: ReadonlySignal<readonly Download[]> = list;

/** The browser may not have read the file yet. */
const revokeAfterMs = 60_000;

/** Call it after a click, or the browser does not ask where to save a large file. */
export function saveFiles(room: RoomModel, files: readonly SharedFile[]): void {
  const [first, second] = files;
  if (first) add(second ? archiveOf(room, files) : fileSource(room, first));
}

export function closeAll(): void {
  for (const { send } of list.peek()) send({ type: 'close' });
}

function fileSource(room: RoomModel, file: SharedFile): DownloadSource {
  return {
    name: file.fileName,
    type: file.contentType,
    size: file.fileSize,
    async open(signal) {
      const { body } = await room.requests().download(file, { signal });
      return body ?? new Blob([]).stream();
    },
  };
}

function add(source: DownloadSource): void {
  const machine = createStateMachine(downloadTransitions, { name: 'choosing' }, onTransition);
  const download = { source, ...machine };
  list.value = [...list.value, download];
  void choose();

  function onTransition(before: DownloadState, after: DownloadState): void {
    if (before.name === after.name) return;
    if (before.name === 'saving') before.aborter.abort();
    if (after.name === 'choosing') void choose();
    if (after.name === 'saving') void save(source, after, machine.send);
    if (after.name === 'closed') list.value = list.value.filter((other) => other !== download);
  }

  async function choose(): Promise<void> {
    const target = await chooseSealedTarget(source);
    if (target === 'too-large') return machine.send({ type: 'fail', message: tooLarge() });
    machine.send(target ? { type: 'start', target, aborter: new AbortController() } : { type: 'close' });
  }
}

async function save(
  source: DownloadSource,
  { target, aborter: { signal } }: SavingState,
  send: (event: DownloadEvent) => void,
): Promise<void> {
  const onBytes = (bytes: number) => send({ type: 'progress', bytes });
  try {
    await saveTo(target, (await source.open(signal)).pipeThrough(countBytes(onBytes)));
    send({ type: 'close' });
  } catch (error) {
    await target.discard();
    if (!signal.aborted) send({ type: 'fail', message: failureMessage(error) });
  }
}

async function saveTo(target: FileTarget, body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  const { blobUrl } = await target.save(body);
  if (blobUrl) setTimeout(() => URL.revokeObjectURL(blobUrl), revokeAfterMs);
}

const tooLarge = () => t('tooLargeToSave', { size: size(maxMemoryBytes) });

function failureMessage(error: unknown): string {
  if (error instanceof DOMException) return t('saveFailed');
  // All others are those of a connection that was lost.
  if (!(error instanceof PoproomError)) return errorMessage(new PoproomError('OFFLINE', String(error)));
  const { code, details } = noteFailure(error);
  if (code !== 'DATA_DAMAGED') return errorMessage(error);
  const name = details.fileName === undefined ? undefined : String(details.fileName);
  const message = name === undefined ? errorMessage(error) : t('fileInArchiveDamaged', { name });
  return `${message} ${t('nothingSaved')}`;
}
