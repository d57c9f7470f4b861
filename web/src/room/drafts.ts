/** What was typed into a room and could not be sent yet. Each tab keeps its own, lest one overwrite another's. */
import { draftKeys } from '../device/recent-rooms.ts';
import { isText, lasting, passing } from '../device/storage.ts';
import { type Draft, type Drafts, isDraft } from './shared-text.ts';

/** Another one each time: a tab that is duplicated begins with all that the first one knows. */
const tab = String(Math.random());
const tabBefore = passing.get('tab', isText);
passing.set('tab', tab);

export function draftsOf(code: string): Drafts {
  const own = `draft:${tab}:${code}`;
  return {
    save: (draft) => lasting.set(own, draft),

    /** What this tab had when it was loaded last; else what others left, which may be closed by now. */
    load() {
      const keys = draftKeys(code);
      const ofThisTab = keys.filter((key) => key === own || key.startsWith(`draft:${tabBefore}:`));
      const draft = takeAll(ofThisTab.length > 0 ? ofThisTab : keys);
      lasting.set(own, draft);
      return draft;
    },
  };
}

function takeAll(keys: readonly string[]): Draft | undefined {
  const drafts = keys.flatMap((key) => lasting.get(key, isDraft) ?? []);
  for (const key of keys) lasting.set(key, undefined);
  return drafts.length > 0 ? drafts.reduce(joined) : undefined;
}

/** One text can go on where it was; that of another is a passage beside it. */
function joined(first: Draft, { base, mine, unplaced }: Draft): Draft {
  const passages = mine === base.content ? unplaced : [mine, ...unplaced];
  return { ...first, unplaced: [...first.unplaced, ...passages] };
}
