/** Opens the text of a room with its drafts: the edits of this tab and of closed tabs that were not sent. */
import type { LiveRoom } from '../../../src/client/light-room.ts';
import { createSharedText } from '../../../src/client/text.ts';
import { savedResumeToken } from '../device/recent-rooms.ts';
import { claimSealedDrafts, type Draft, type Drafts } from './drafts.ts';
import type { JoinAttempt, LoadedText } from './room-phase.ts';
import { createTextModel } from './text-model.ts';

export function openText({ own, others }: Drafts): LoadedText {
  return {
    ...createTextModel(own),
    sendOtherDrafts(attempt) {
      const sendAll = (drafts: readonly Draft[]) => drafts.forEach((draft) => void sendDraft(draft, attempt));
      sendAll(others);
      if (attempt.encryption) void claimSealedDrafts(attempt.room.code, attempt.encryption).then(sendAll);
    },
  };
}

/** Sends the draft of a closed tab as a separate text: its edits are based on another version than this tab's. */
async function sendDraft(draft: Draft, { room, aborter }: JoinAttempt): Promise<void> {
  const done = new AbortController();
  try {
    const text = createSharedText({ saved: draft.saved });
    const signal = AbortSignal.any([aborter.signal, done.signal]);
    void drain(room.live({ text, signal, resumeToken: savedResumeToken(room.code) }));
    await text.synchronized();
    draft.save(undefined);
  } catch (error) {
    // The draft stays stored, and the next page load retries.
    console.error(error);
  } finally {
    done.abort();
  }
}

/** Consumes the events; the text reads the channel itself. */
async function drain(live: LiveRoom): Promise<void> {
  try {
    for await (const _ of live);
  } catch {}
}
