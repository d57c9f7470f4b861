/** Sends the edits of a closed tab. */
import type { LiveRoom } from '../../../src/client/live-channel.ts';
import { createSharedText } from '../../../src/client/text/create-shared-text.ts';
import { savedResumeToken } from '../device/recent-rooms.ts';
import type { Draft } from './drafts.ts';
import type { JoinAttempt } from './room-phase.ts';

/** Sends the draft of a closed tab as a separate text: its edits are based on another version than this tab's. */
export async function sendDraft(draft: Draft, { room, aborter }: JoinAttempt): Promise<void> {
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
