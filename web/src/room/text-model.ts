/** The shared text of a room for the views: exposed as signals, and saved so that it survives a reload. */

import { signal } from '@preact/signals';
import type { LiveRoom } from '../../../src/client/live-channel.ts';
import { createSharedText } from '../../../src/client/text/create-shared-text.ts';
import type { SharedText } from '../../../src/client/text/shared-text.ts';
import type { CaretMoved } from '../../../src/protocol/types.ts';
import type { Draft } from './drafts.ts';

const finishWithinMs = 1_000;

export function createTextModel(draft: Draft, deviceId: string) {
  const shared = openSharedText(draft, deviceId);
  const isEmpty = signal(shared.value === '');
  const status = signal(statusOf(shared));
  /** Why the server does not accept the text. */
  const refusal = signal(shared.refusal);
  const canUndo = signal(shared.canUndo);
  const canRedo = signal(shared.canRedo);
  /** Own words that are missing from the text of an encrypted room, until the user dismisses them. */
  const missing = signal('');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  function saveNow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isStopped) draft.save(shared.save());
  }

  function stop(): void {
    clearTimeout(timer);
    isStopped = true;
    shared.close();
  }

  shared.on('change', () => {
    isEmpty.value = shared.value === '';
    canUndo.value = shared.canUndo;
    canRedo.value = shared.canRedo;
    timer ??= setTimeout(saveNow, autosaveDelayMs(shared.value.length));
  });
  shared.on('lost', (words) => {
    missing.value += missing.value ? `\n${words}` : words;
  });
  shared.on('state', () => {
    status.value = statusOf(shared);
    refusal.value = shared.refusal;
    if (shared.state === 'synchronized') saveNow();
  });

  return {
    shared,
    isEmpty,
    status,
    refusal,
    canUndo,
    canRedo,
    missing,
    /** The other devices that are editing the text, as `others.tsx` finds out. */
    typing: signal<ReadonlySet<string>>(new Set()),
    /** The last caret of another device that was received. */
    caret: signal<CaretMoved | undefined>(undefined),
    /** The channel that sends the caret of this device. */
    live: undefined as LiveRoom | undefined,

    /** Appends text on a new line. */
    append(addition: string) {
      const { value } = shared;
      const separator = value === '' || value.endsWith('\n') ? '' : '\n';
      shared.append(separator + addition);
    },

    /** Sends and saves pending edits immediately. */
    flush() {
      shared.flush();
      saveNow();
    },

    /** Sends pending edits and waits briefly for the response. Saves what the server did not confirm. */
    async finish() {
      shared.flush();
      const timeout = new Promise((resolve) => setTimeout(resolve, finishWithinMs));
      await Promise.race([shared.synchronized().catch(() => undefined), timeout]);
      saveNow();
      stop();
    },

    /** The room has ended: deletes the saved edits. */
    discard() {
      stop();
      draft.save(undefined);
    },
  };
}

/** The saved draft may be from another version of the page, or edited by hand. */
function openSharedText({ saved }: Draft, deviceId: string): SharedText {
  try {
    return createSharedText({ deviceId, saved });
  } catch (error) {
    console.error(error);
    return createSharedText({ deviceId });
  }
}

export type TextStatus = 'saved' | 'saving' | 'offline' | 'refused';

function statusOf({ isOnline, state, refusal }: SharedText): TextStatus {
  if (!isOnline) return 'offline';
  if (state === 'synchronized') return 'saved';
  return refusal ? 'refused' : 'saving';
}

/** Saving a large text takes tens of milliseconds, too long for every keystroke. */
const autosaveDelayMs = (length: number): number => (length < 100_000 ? 300 : 1_500);
