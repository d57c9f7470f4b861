/** The text of a room in its feed. The full string is built only when a session needs it. */
import type { TextEntry, TextState } from '../core/ports.ts';
import { isCompactionDue, tailOf } from '../core/text/sealed-text.ts';
import { TextDocument } from '../text/document.ts';

/** Entries for sessions that fell behind. The log of the store has more. */
const maxRecent = 64;
/** The total length of their insertions, in UTF-16 code units. */
const maxRecentLength = 128 * 1024;

/** In UTF-16 code units. The JSON of a longer text is created once for all messages that contain it. */
const longFrom = 16 * 1024;

interface SealedPart {
  contentVersion: number;
  /** The entries since the full text. */
  edits: readonly TextEntry[];
}

/** Immutable: sessions keep a reference to the one they have sent. */
export class FeedText {
  readonly version: number;
  readonly writtenAt: number;
  readonly #document: TextDocument;
  readonly #recent: readonly TextEntry[];
  /** Set in an encrypted room, whose document is the full text. */
  readonly sealed: SealedPart | undefined;
  /** A weak reference, because the JSON is needed only until it has been sent. */
  #json: WeakRef<Uint8Array> | undefined;

  private constructor(
    { version, writtenAt }: Pick<TextState, 'version' | 'writtenAt'>,
    document: TextDocument,
    recent: readonly TextEntry[],
    sealed?: SealedPart,
  ) {
    this.version = version;
    this.writtenAt = writtenAt;
    this.#document = document;
    this.#recent = recent;
    this.sealed = sealed;
  }

  static of(state: TextState & { content: string }): FeedText {
    const { contentVersion, entries } = state;
    const sealed = contentVersion === undefined ? undefined : { contentVersion, edits: entries };
    return new FeedText(state, TextDocument.of(state.content), [], sealed);
  }

  /** Whether a client of an encrypted room should store a snapshot. */
  get isCompactionDue(): boolean {
    return this.sealed !== undefined && isCompactionDue(tailOf(this.sealed.edits), this.#document.length);
  }

  /** Whether the entries of a state can follow this text. The entry of a replaced sealed text does not contain it. */
  canFollow({ content, entries }: TextState): boolean {
    return content !== undefined || !this.sealed || entries.every(({ sealed }) => sealed !== undefined);
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
    return new FeedText(entry, this.#document.apply(entry.edits), newest([...this.#recent, entry]), sealed);
  }

  /** A snapshot of the same version keeps the entries for sessions that fell behind. */
  #replacedBy(next: FeedText): FeedText {
    return this.isSame(next) ? new FeedText(next, next.#document, this.#recent, next.sealed) : next;
  }

  get isLong(): boolean {
    return this.#document.length >= longFrom;
  }

  /** Whether messages with this text are large. */
  get isLarge(): boolean {
    return this.isLong || (this.sealed !== undefined && tailOf(this.sealed.edits).length >= longFrom);
  }

  content(): string {
    return this.#document.toString();
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
    const count = this.version - version;
    if (count < 0 || count > this.#recent.length) return undefined;
    return this.#recent.slice(this.#recent.length - count);
  }
}

/** The newest entries within the limits. */
function newest(entries: readonly TextEntry[]): readonly TextEntry[] {
  let length = 0;
  let first = entries.length;
  while (first > 0 && entries.length - first < maxRecent) {
    length += lengthOf(entries[first - 1] as TextEntry);
    if (length > maxRecentLength && first < entries.length) break;
    first -= 1;
  }
  return entries.slice(first);
}

const lengthOf = ({ edits, sealed = '' }: TextEntry) =>
  edits.reduce((sum, { insert }) => sum + insert.length + 16, sealed.length);
