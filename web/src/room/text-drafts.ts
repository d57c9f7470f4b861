/** Opens the text of a room with its drafts: the edits of this tab and of closed tabs that were not sent. */
import { claimSealedDrafts, type Draft, type Drafts } from './drafts.ts';
import type { JoinAttempt, LoadedText } from './room-phase.ts';
import { createTextModel } from './text-model.ts';

export function openText({ own, others }: Drafts, deviceId: string): LoadedText {
  return {
    ...createTextModel(own, deviceId),
    sendOtherDrafts(attempt) {
      const sendAll = (drafts: readonly Draft[]) => drafts.forEach((draft) => void sendOther(draft, attempt));
      sendAll(others);
      if (attempt.encryption) void claimSealedDrafts(attempt.room.code, attempt.encryption).then(sendAll);
    },
  };
}

/** Few rooms have such drafts. If the code cannot be loaded, the next page load retries. */
async function sendOther(draft: Draft, attempt: JoinAttempt): Promise<void> {
  await import('./send-draft.ts').then(
    ({ sendDraft }) => sendDraft(draft, attempt),
    () => undefined,
  );
}
