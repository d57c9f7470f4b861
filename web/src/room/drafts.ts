/** Edits that the server has not confirmed, kept over a reload. Each tab keeps its own. */
import type { SavedText } from '../../../src/client/index.ts';
import { draftKeys } from '../device/recent-rooms.ts';
import { isRecord, isText, lasting } from '../device/storage.ts';
import { isPrevious, tab, unlessOpen } from '../device/tab.ts';

export interface Draft {
  /** What was kept before this page was loaded. */
  readonly saved: SavedText | undefined;
  /** Undefined removes it. */
  keep(saved: SavedText | undefined): void;
}

export interface Drafts {
  /** What this tab had before it was reloaded; else the first of those that closed tabs left. */
  own: Draft;
  /** What further closed tabs left. */
  others: Draft[];
}

/**
 * Takes the drafts of this tab and of closed ones: each is taken once, and belongs to this tab from then on. To be called
 * when the text that kept a draft in this tab is closed.
 */
export async function takeDrafts(code: string): Promise<Drafts> {
  const taken: SavedText[] = [];
  const isOwn = (key: string) => tabIn(key) === tab || isPrevious(tabIn(key));
  const keys = draftKeys(code).sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
  for (const key of keys) {
    await unlessOpen(tabIn(key), () => {
      const saved = lasting.get(key, isSavedText);
      lasting.set(key, undefined);
      if (saved) taken.push(saved);
    });
  }
  // A draft of this tab may have had the key that another one gets, so they are kept when all are taken.
  for (const [index, saved] of taken.entries()) lasting.set(ownKey(code, index), saved);
  const [first, ...others] = taken;
  return { own: draft(ownKey(code), first), others: others.map((saved, i) => draft(ownKey(code, i + 1), saved)) };
}

const ownKey = (code: string, index = 0): string => `draft:${index === 0 ? tab : `${tab}.${index}`}:${code}`;
const tabIn = (key: string): string => /^draft:(\w+)/.exec(key)?.[1] ?? '';

function draft(key: string, saved: SavedText | undefined): Draft {
  let isKept = saved !== undefined;
  return {
    saved,
    keep(current) {
      if (current || isKept) lasting.set(key, current);
      isKept = current !== undefined;
    },
  };
}

function isSavedText(value: unknown): value is SavedText {
  if (!isRecord(value)) return false;
  const { version, timestamp, content, deviceId, sent, buffer = [] } = value;
  const isSent = sent === undefined || (isRecord(sent) && isText(sent.ref) && isEditList(sent.edits));
  return Number.isInteger(version) && [timestamp, content, deviceId].every(isText) && isSent && isEditList(buffer);
}

const isEditList = (value: unknown): boolean => Array.isArray(value) && value.every(isEdit);
const isEdit = (value: unknown): boolean =>
  isRecord(value) && Number.isInteger(value.from) && Number.isInteger(value.to) && isText(value.insert);
