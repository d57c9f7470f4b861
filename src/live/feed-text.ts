/** The text of a room as its feed knows it. The whole is put together only when a session needs it. */
import type { TextEntry, TextState } from '../core/ports.ts';
import { type Changes, toChanges, toEdits } from '../text/changes.ts';
import { applyEdits } from '../text/edits.ts';

/** Entries kept for sessions that fell behind; the log of the store has more. */
const maxRecent = 64;
/** Edits that may wait before the whole text is put together again. */
const maxWaiting = 256;

/** Never changed once made: sessions hold on to the one that they have sent. */
export class FeedText {
  readonly version: number;
  readonly writtenAt: number;
  readonly #recent: readonly TextEntry[];
  #content: string;
  /** What leads from `#content` to this version, as one change. */
  #waiting: Changes | undefined;
  readonly #waitingCount: number;

  private constructor(
    { version, writtenAt }: Pick<TextState, 'version' | 'writtenAt'>,
    content: string,
    recent: readonly TextEntry[] = [],
    waiting?: Changes,
    waitingCount = 0,
  ) {
    this.version = version;
    this.writtenAt = writtenAt;
    this.#content = content;
    this.#recent = recent;
    this.#waiting = waiting;
    this.#waitingCount = waitingCount;
  }

  static of(state: TextState & { content: string }): FeedText {
    return new FeedText(state, state.content);
  }

  /** As of a state of the store, which may have told only the entries since this text. */
  follow(state: TextState): FeedText {
    if (state.content !== undefined) {
      return this.isSame(state) ? this : FeedText.of(state as TextState & { content: string });
    }
    return state.entries.reduce<FeedText>((text, entry) => text.next(entry), this);
  }

  isSame({ version, writtenAt }: Pick<TextState, 'version' | 'writtenAt'>): boolean {
    return version === this.version && writtenAt === this.writtenAt;
  }

  next(entry: TextEntry): FeedText {
    const recent = [...this.#recent.slice(1 - maxRecent), entry];
    if (this.#waitingCount >= maxWaiting) return new FeedText(entry, applyEdits(this.content(), entry.edits), recent);
    const length = this.#waiting?.newLength ?? this.#content.length;
    const change = toChanges(entry.edits, length);
    const waiting = this.#waiting?.compose(change) ?? change;
    return new FeedText(entry, this.#content, recent, waiting, this.#waitingCount + 1);
  }

  content(): string {
    if (this.#waiting) this.#content = applyEdits(this.#content, toEdits(this.#waiting));
    this.#waiting = undefined;
    return this.#content;
  }

  /** The entries after an older text of this room; undefined where they are not at hand. */
  since(version: number): readonly TextEntry[] | undefined {
    const count = this.version - version;
    if (count < 0 || count > this.#recent.length) return undefined;
    return this.#recent.slice(this.#recent.length - count);
  }
}
