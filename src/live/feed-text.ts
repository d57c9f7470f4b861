/** The text of a room in its feed. The full string is built only when a session needs it. */
import { type LastRefs, type TextEntry, type TextState, withRefsOf } from '../core/ports/texts.ts';
import { isCompactionDue, tailOf } from '../core/text/sealed-texts.ts';
import { checksumOf, TextDocument } from '../text/document.ts';

/** Entries for sessions that fell behind. The log of the store has more. */
const maxRecent = 64;
/** The total length of their insertions, in UTF-16 code units. */
const maxRecentLength = 128 * 1024;

/** In UTF-16 code units. The JSON of a longer text is created once for all messages that contain it. */
const longFrom = 16 * 1024;

const checksumEvery = 8;
/** UTF-16 code units that a checksum covers, per edit. */
const unitsPerEdit = 4096;

/** The version of the full text, and the entries since then. */
type SealedPart = { contentVersion: number; edits: readonly TextEntry[] };

/** Immutable: sessions keep a reference to the one they have sent. */
export class FeedText {
  readonly version: number;
  readonly writtenAt: number;
  readonly #document: TextDocument;
  readonly #recent: RecentEntries;
  readonly lastRefs: LastRefs;
  /** Set in an encrypted room, whose document is the full text. */
  readonly sealed: SealedPart | undefined;
  /** A weak reference, because the JSON is needed only until it has been sent. */
  #json: WeakRef<Uint8Array> | undefined;
  #checksum: number | undefined;

  private constructor(
    { version, writtenAt }: Pick<TextState, 'version' | 'writtenAt'>,
    document: TextDocument,
    { recent, lastRefs, sealed }: { recent: RecentEntries; lastRefs: LastRefs; sealed: SealedPart | undefined },
  ) {
    this.version = version;
    this.writtenAt = writtenAt;
    this.#document = document;
    this.#recent = recent;
    this.lastRefs = lastRefs;
    this.sealed = sealed;
  }

  static of(state: TextState & { content: string }): FeedText {
    const { contentVersion, entries, lastRefs = [] } = state;
    const sealed = contentVersion === undefined ? undefined : { contentVersion, edits: entries };
    return new FeedText(state, TextDocument.of(state.content), { recent: noEntries, lastRefs, sealed });
  }

  /** Whether a client of an encrypted room should store a snapshot. */
  get isCompactionDue(): boolean {
    return this.sealed !== undefined && isCompactionDue(tailOf(this.sealed.edits), this.#document.length);
  }

  /** Whether these entries can follow this text. The entry of a replaced sealed text does not contain it. */
  canFollow(entries: readonly TextEntry[]): boolean {
    return !this.sealed || entries.every(({ sealed }) => sealed !== undefined);
  }

  /** The text of a state from the store, which may contain only the entries since this text. */
  follow(state: TextState): FeedText {
    if (state.content !== undefined) {
      const isKnown = this.isSame(state) && this.sealed?.contentVersion === state.contentVersion;
      return isKnown ? this : this.#replacedBy(FeedText.of(state as TextState & { content: string }));
    }
    return state.entries.reduce<FeedText>((text, entry) => text.next(entry), this);
  }

  isSame({ version, writtenAt }: Pick<TextState, 'version' | 'writtenAt'>): boolean {
    return version === this.version && writtenAt === this.writtenAt;
  }

  next(entry: TextEntry): FeedText {
    const sealed = this.sealed && { ...this.sealed, edits: [...this.sealed.edits, entry] };
    const lastRefs = withRefsOf(this.lastRefs, [entry]);
    const recent = this.#recent.with(entry);
    return new FeedText(entry, this.#document.apply(entry.edits), { recent, lastRefs, sealed });
  }

  /** Keeps the entries for sessions that fell behind, if those up to the next version are known. */
  #replacedBy(next: FeedText): FeedText {
    const missed = this.isSame(next) ? [] : this.#missedBefore(next);
    if (!missed) return next;
    const recent = missed.reduce((entries, entry) => entries.with(entry), this.#recent);
    return new FeedText(next, next.#document, { recent, lastRefs: next.lastRefs, sealed: next.sealed });
  }

  /** The sealed edits after this version, if the next text has them all. */
  #missedBefore({ version, sealed }: FeedText): readonly TextEntry[] | undefined {
    const { contentVersion = Number.POSITIVE_INFINITY, edits = [] } = sealed ?? {};
    if (!this.sealed || this.version < contentVersion || this.version > version) return undefined;
    const own = edits.find((entry) => entry.version === this.version);
    return own && own.writtenAt !== this.writtenAt ? undefined : edits.filter((entry) => entry.version > this.version);
  }

  get isLong(): boolean {
    return this.#document.length >= longFrom;
  }

  get isLarge(): boolean {
    return this.isLong || (this.sealed !== undefined && tailOf(this.sealed.edits).length >= longFrom);
  }

  content(): string {
    return this.#document.toString();
  }

  /** For receivers to check their copy. Longer texts have fewer checksums, so that the cost per edit does not grow. */
  check(): { length: number; checksum?: number } | undefined {
    if (this.sealed) return undefined;
    const { length } = this.#document;
    const interval = Math.max(checksumEvery, Math.ceil(length / unitsPerEdit));
    if (this.version % interval !== 0) return { length };
    this.#checksum ??= checksumOf(this.content());
    return { length, checksum: this.#checksum };
  }

  contentJson(): Uint8Array {
    const known = this.#json?.deref();
    if (known) return known;
    const made = Buffer.from(JSON.stringify(this.content()));
    this.#json = new WeakRef(made);
    return made;
  }

  /** The entries after an older version; undefined if they are not available here. */
  since(version: number): readonly TextEntry[] | undefined {
    return this.#recent.last(this.version - version);
  }
}

/** The newest entries within the limits. Immutable. */
class RecentEntries {
  readonly #entries: readonly TextEntry[];
  readonly #length: number;

  constructor(entries: readonly TextEntry[], length: number) {
    this.#entries = entries;
    this.#length = length;
  }

  /** Always keeps the new one, however long it is. */
  with(entry: TextEntry): RecentEntries {
    let length = this.#length + lengthOf(entry);
    let first = 0;
    for (const oldest of this.#entries) {
      if (this.#entries.length - first < maxRecent && length <= maxRecentLength) break;
      length -= lengthOf(oldest);
      first += 1;
    }
    const entries = this.#entries.slice(first);
    entries.push(entry);
    return new RecentEntries(entries, length);
  }

  /** The last ones; undefined if there are not as many. */
  last(count: number): readonly TextEntry[] | undefined {
    if (count < 0 || count > this.#entries.length) return undefined;
    return this.#entries.slice(this.#entries.length - count);
  }
}

const noEntries = new RecentEntries([], 0);

function lengthOf({ edits, sealed = '' }: TextEntry): number {
  let length = sealed.length;
  for (const { insert } of edits) length += insert.length + 16;
  return length;
}
