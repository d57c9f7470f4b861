/** The drafts that closed tabs have left: sends them, or forgets them with their room. Loaded if there are any. */
import type { LiveRoom } from '../../../src/client/live-channel.ts';
import { createSharedText } from '../../../src/client/text/create-shared-text.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { draftKeys, forgetRoom, isKnownAsEncrypted, recentRooms, savedResumeToken } from '../device/recent-rooms.ts';
import { localStore, sessionStore } from '../device/storage.ts';
import { askRoom, checkRequestLimit, requestLimit } from '../server-connection.ts';
import { type Draft, runIfTabClosed, tabIn, tabTextKeys } from './drafts.ts';
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

const maxChecked = 5;
const checkAgainMs = 3_600_000;
/** Each check is a request, of which the user may need the last ones. */
const requestsToKeep = 20;

/**
 * Asks the server about rooms with drafts, and forgets those that have ended. Nothing of an encrypted room is erased on
 * the server's word.
 */
export async function forgetEndedRooms(): Promise<void> {
  const due = recentRooms.peek().filter(({ code }) => draftKeys(code).length > 0 && isCheckDue(code as RoomCode));
  if (due.length === 0) return;
  await checkRequestLimit();
  if ((requestLimit.peek()?.remaining ?? Number.POSITIVE_INFINITY) < requestsToKeep) return;
  for (const { code } of due.slice(0, maxChecked)) {
    sessionStore.set(`checked:${code}`, Date.now());
    // Without the PIN: the server then says only whether the room exists.
    const refusal = await askRoom(code as RoomCode);
    if (refusal && /^ROOM_(NOT_FOUND|EXPIRED)$/.test(refusal.code)) await forgetClosedTabs(code);
  }
}

function isCheckDue(code: RoomCode): boolean {
  const checkedAt = sessionStore.get(`checked:${code}`, isNumber) ?? 0;
  return !isKnownAsEncrypted(code) && Math.abs(Date.now() - checkedAt) > checkAgainMs;
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** A tab that is still open shows the user what happened. */
async function forgetClosedTabs(code: string): Promise<void> {
  for (const key of tabTextKeys(code)) sessionStore.set(key, undefined);
  for (const key of draftKeys(code)) await runIfTabClosed(tabIn(key), () => localStore.set(key, undefined));
  if (draftKeys(code).length === 0) forgetRoom(code);
}
