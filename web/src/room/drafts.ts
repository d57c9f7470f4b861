/** Edits that the server has not confirmed, stored so that they survive a reload. Each tab stores its own. */
import type { SavedText } from '../../../src/client/index.ts';
import { draftKeys } from '../device/recent-rooms.ts';
import { isRecord, isString, localStore } from '../device/storage.ts';
import { isPrevious, runIfTabClosed, tab } from '../device/tab.ts';

export interface Draft {
  /** The edits that were stored before this page was loaded. */
  readonly saved: SavedText | undefined;
  /** Undefined removes the draft. */
  save(saved: SavedText | undefined): void;
}

export interface Drafts {
  /** The draft of this tab from before its reload, or else the first one of a closed tab. */
  own: Draft;
  /** The drafts of other closed tabs. */
  others: Draft[];
}

/**
 * Claims the drafts of this tab and of closed tabs. Each draft is claimed once and belongs to this tab from then on.
 * Call it only after the text that saved a draft in this tab is closed.
 */
export async function claimDrafts(code: string): Promise<Drafts> {
  const claimed: SavedText[] = [];
  const isOwn = (key: string) => tabIn(key) === tab || isPrevious(tabIn(key));
  const keys = draftKeys(code).sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
  for (const key of keys) {
    await runIfTabClosed(tabIn(key), () => {
      const saved = localStore.get(key, isSavedText);
      localStore.set(key, undefined);
      if (saved) claimed.push(saved);
    });
  }
  // Save after all are claimed: a draft of this tab may have used a key that another draft gets now.
  for (const [index, saved] of claimed.entries()) localStore.set(ownKey(code, index), saved);
  const [first, ...others] = claimed;
  return { own: draft(ownKey(code), first), others: others.map((saved, i) => draft(ownKey(code, i + 1), saved)) };
}

const ownKey = (code: string, index = 0): string => `draft:${index === 0 ? tab : `${tab}.${index}`}:${code}`;
const tabIn = (key: string): string => /^draft:(\w+)/.exec(key)?.[1] ?? '';

function draft(key: string, saved: SavedText | undefined): Draft {
  let isStored = saved !== undefined;
  return {
    saved,
    save(current) {
      if (current || isStored) localStore.set(key, current);
      isStored = current !== undefined;
    },
  };
}

function isSavedText(value: unknown): value is SavedText {
  if (!isRecord(value)) return false;
  const { version, timestamp, content, deviceId, sent, buffer = [] } = value;
  const isSent = sent === undefined || (isRecord(sent) && isString(sent.ref) && isEditList(sent.edits));
  return Number.isInteger(version) && [timestamp, content, deviceId].every(isString) && isSent && isEditList(buffer);
}

const isEditList = (value: unknown): boolean => Array.isArray(value) && value.every(isEdit);
const isEdit = (value: unknown): boolean =>
  isRecord(value) && Number.isInteger(value.from) && Number.isInteger(value.to) && isString(value.insert);
