/** The shared text of a room as the views need it: as signals, and kept over a reload. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { PoproomError, SharedText } from '../../../src/client/index.ts';
import { createSharedText } from '../../../src/client/text.ts';
import { deviceId } from '../device/identity.ts';
import type { Draft } from './drafts.ts';
import { createTypingDevices } from './typing-devices.ts';

export { createSharedText };

export type TextStatus = 'saved' | 'sending' | 'offline' | 'refused';

export interface TextModel {
  readonly shared: SharedText;
  readonly isEmpty: ReadonlySignal<boolean>;
  readonly status: ReadonlySignal<TextStatus>;
  /** Why the text cannot be stored as it is. */
  readonly refusal: ReadonlySignal<PoproomError | undefined>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  /** The other devices that edit the text now. */
  readonly typing: ReadonlySignal<ReadonlySet<string>>;
  /** Adds to the end, on a line of its own. */
  append(words: string): void;
  /** Sends and keeps what waits, without delay. */
  flush(): void;
  /** Sends what waits and waits for the answer, but not for long; what was not stored is kept. */
  finish(): Promise<void>;
  /** The room has ended: nothing of its text is kept. */
  discard(): void;
}

const finishWithinMs = 1_000;

export function createTextModel(draft: Draft): TextModel {
  const shared = openSharedText(draft);
  const isEmpty = signal(shared.value === '');
  const status = signal<TextStatus>(statusOf(shared));
  const refusal = signal(shared.refusal);
  const canUndo = signal(shared.canUndo);
  const canRedo = signal(shared.canRedo);
  const typing = createTypingDevices(shared, deviceId);
  const keeper = createKeeper(shared, draft);

  shared.on('change', () => {
    isEmpty.value = shared.value === '';
    canUndo.value = shared.canUndo;
    canRedo.value = shared.canRedo;
    keeper.keepSoon();
  });
  shared.on('state', () => {
    status.value = statusOf(shared);
    refusal.value = shared.refusal;
    if (shared.state === 'synchronized') keeper.keepNow();
  });

  return {
    shared,
    isEmpty,
    status,
    refusal,
    canUndo,
    canRedo,
    typing,

    append(words) {
      const { value } = shared;
      const separator = value === '' || value.endsWith('\n') ? '' : '\n';
      shared.append(separator + words);
    },

    flush() {
      shared.flush();
      keeper.keepNow();
    },

    async finish() {
      shared.flush();
      const tooLate = new Promise((resolve) => setTimeout(resolve, finishWithinMs));
      await Promise.race([shared.synchronized().catch(() => undefined), tooLate]);
      keeper.keepNow();
      keeper.stop();
      shared.close();
    },

    discard() {
      keeper.stop();
      draft.keep(undefined);
      shared.close();
    },
  };
}

/** What was kept may be of another version of the page, or changed by someone. */
function openSharedText({ saved }: Draft): SharedText {
  try {
    return createSharedText({ deviceId, saved });
  } catch (error) {
    console.error(error);
    return createSharedText({ deviceId });
  }
}

function statusOf({ isOnline, state, refusal }: SharedText): TextStatus {
  if (!isOnline) return 'offline';
  if (state === 'synchronized') return 'saved';
  return refusal ? 'refused' : 'sending';
}

/** Writing a large text down takes tens of milliseconds, too long for every key. */
const keepAfterMs = (length: number): number => (length < 100_000 ? 300 : 1_500);

/** Keeps a text that is not stored yet, now and then. */
function createKeeper(shared: SharedText, draft: Draft) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  function keepNow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isStopped) draft.keep(shared.save());
  }

  return {
    keepNow,
    keepSoon(): void {
      timer ??= setTimeout(keepNow, keepAfterMs(shared.value.length));
    },
    stop(): void {
      clearTimeout(timer);
      isStopped = true;
    },
  };
}
