/** The text of a room in the model: its log, its full text and its checkpoints. */
import fc from 'fast-check';
import {
  type Checkpoint,
  type Content,
  type LastRefs,
  type StoredText,
  type TextAppend,
  type TextEntry,
  withRefsOf,
} from '../../src/core/ports/texts.ts';
import { applyEdits } from '../../src/text/edits.ts';
import { anyEdits, anyText, type DrawnEdit, editsOf } from './any-text.ts';
import { checkpoint } from './store-under-test.ts';

const limits = { checkpoints: 3, bytes: 60 };

export interface ModelText {
  content: Content;
  log: TextEntry[];
  fullTextVersion: number;
  /** Oldest first. */
  history: Checkpoint[];
}

export const emptyText = (writtenAt: number): ModelText => ({
  content: { content: '', version: 0, writtenAt },
  log: [],
  fullTextVersion: 0,
  history: [],
});

export interface DrawnAppend {
  edits: readonly DrawnEdit[];
  /** From the version that would be appended. */
  versionOffset: number;
  hasContent: boolean;
  /** How many entries a compaction keeps; undefined for an append without one. */
  keptEntries: number | undefined;
  hasCheckpoint: boolean;
  deviceId: string | undefined;
  ref: string | undefined;
}

export const anyAppend: fc.Arbitrary<DrawnAppend> = fc.record({
  edits: anyEdits,
  versionOffset: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -4, max: 2 })),
  hasContent: fc.boolean(),
  keptEntries: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
  hasCheckpoint: fc.boolean(),
  deviceId: fc.option(anyText(5), { nil: undefined }),
  ref: fc.option(anyText(5), { nil: undefined }),
});

export function appendTo(
  { content: { content, version } }: ModelText,
  drawn: DrawnAppend,
  writtenAt: number,
): TextAppend {
  const { deviceId, ref, keptEntries } = drawn;
  const edits = editsOf(drawn.edits, content);
  const after = applyEdits(content, edits);
  const made = Math.max(1, version + 1 + drawn.versionOffset);
  return {
    entry: { version: made, edits, deviceId, ref, writtenAt },
    revision: made,
    previousRevision: made - 1,
    content: drawn.hasContent ? after : undefined,
    compaction: keptEntries === undefined ? undefined : { content: after, dropThrough: made - keptEntries },
    checkpoint: drawn.hasCheckpoint
      ? { checkpoint: checkpoint(made - 1, content, { deviceId, writtenAt }), limits }
      : undefined,
  };
}

export function apply(text: ModelText, { entry, compaction, checkpoint }: TextAppend): void {
  const { version, writtenAt, edits } = entry;
  text.content = { content: applyEdits(text.content.content, edits), version, writtenAt };
  text.log.push(entry);
  if (compaction) {
    text.fullTextVersion = version;
    text.log = text.log.filter((kept) => kept.version > compaction.dropThrough);
  }
  if (checkpoint) text.history.push(checkpoint.checkpoint);
  while (isOverLimits(text.history)) text.history.shift();
}

function isOverLimits(history: readonly Checkpoint[]): boolean {
  const bytes = history.reduce((sum, { size }) => sum + size, 0);
  return history.length > limits.checkpoints || (history.length > 1 && bytes > limits.bytes);
}

/** Undefined where the log does not have all of them. */
export function entriesSince({ content, log }: ModelText, since: number): TextEntry[] | undefined {
  const entries = log.filter(({ version }) => version > since);
  return entries.length === content.version - since ? entries : undefined;
}

/** Without the size of the log, which differs between stores. */
export function storedTextOf({ content, log, fullTextVersion, history }: ModelText): Omit<StoredText, 'logBytes'> {
  const checkpointVersion = history.at(-1)?.version ?? 0;
  return {
    content,
    entries: log,
    lastRefs: lastRefsOf({ log, fullTextVersion }),
    revision: content.version,
    fullTextVersion,
    checkpointVersion,
    keepsHistory: true,
  };
}

/** In these tests, compactions store no refs. */
export const lastRefsOf = ({ log, fullTextVersion }: Pick<ModelText, 'log' | 'fullTextVersion'>): LastRefs =>
  withRefsOf(
    [],
    log.filter(({ version }) => version > fullTextVersion),
  );
