/** The shared text of a room for the views: exposed as signals, and saved so that it survives a reload. */

import { signal } from '@preact/signals';
import { createSharedText } from '../../../src/client/text/create-shared-text.ts';
import type { SharedText } from '../../../src/client/text/shared-text.ts';
import type { Draft } from './drafts.ts';
import type { TextModel, TextStatus } from './room-phase.ts';

const finishWithinMs = 1_000;

export function createTextModel(draft: Draft, deviceId: string): TextModel {
  const shared = openSharedText(draft, deviceId);
  const isEmpty = signal(shared.value === '');
  const status = signal<TextStatus>(statusOf(shared));
  const refusal = signal(shared.refusal);
  const canUndo = signal(shared.canUndo);
  const canRedo = signal(shared.canRedo);
  const missing = signal('');
  const autosave = createAutosave(shared, draft);

  shared.on('change', () => {
    isEmpty.value = shared.value === '';
    canUndo.value = shared.canUndo;
    canRedo.value = shared.canRedo;
    autosave.saveSoon();
  });
  shared.on('lost', (words) => {
    missing.value += missing.value ? `\n${words}` : words;
  });
  shared.on('state', () => {
    status.value = statusOf(shared);
    refusal.value = shared.refusal;
    if (shared.state === 'synchronized') autosave.saveNow();
  });

  return {
    shared,
    isEmpty,
    status,
    refusal,
    canUndo,
    canRedo,
    missing,
    typing: signal(new Set()),
    caret: signal(undefined),

    append(addition) {
      const { value } = shared;
      const separator = value === '' || value.endsWith('\n') ? '' : '\n';
      shared.append(separator + addition);
    },

    flush() {
      shared.flush();
      autosave.saveNow();
    },

    async finish() {
      shared.flush();
      const timeout = new Promise((resolve) => setTimeout(resolve, finishWithinMs));
      await Promise.race([shared.synchronized().catch(() => undefined), timeout]);
      autosave.saveNow();
      autosave.stop();
      shared.close();
    },

    discard() {
      autosave.stop();
      draft.save(undefined);
      shared.close();
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

function statusOf({ isOnline, state, refusal }: SharedText): TextStatus {
  if (!isOnline) return 'offline';
  if (state === 'synchronized') return 'saved';
  return refusal ? 'refused' : 'saving';
}

/** Saving a large text takes tens of milliseconds, too long for every keystroke. */
const autosaveDelayMs = (length: number): number => (length < 100_000 ? 300 : 1_500);

/** Saves unconfirmed edits shortly after a change. */
function createAutosave(shared: SharedText, draft: Draft) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  function saveNow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isStopped) draft.save(shared.save());
  }

  return {
    saveNow,
    saveSoon(): void {
      timer ??= setTimeout(saveNow, autosaveDelayMs(shared.value.length));
    },
    stop(): void {
      clearTimeout(timer);
      isStopped = true;
    },
  };
}
