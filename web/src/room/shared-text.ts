/** The text of a room on this device: typed here, merged with what comes from elsewhere, sent when there is a pause. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { PoproomError, type WriteAnswer } from '../../../src/client/index.ts';
import { keeps, type Merged, merge } from './merge.ts';

export interface Version {
  content: string;
  version: number;
}

/** What was typed and is not in the room, kept for when the page is opened anew. */
export interface Draft {
  base: Version;
  mine: string;
  /** Sent, with no answer yet: it may be in the room. */
  sent?: string | undefined;
  unplaced: readonly string[];
}

export function isDraft(value: unknown): value is Draft {
  const { base, mine, sent = '', unplaced } = (value ?? {}) as Partial<Draft>;
  const texts = [mine, sent, base?.content, ...(Array.isArray(unplaced) ? unplaced : [undefined])];
  return texts.every((text) => typeof text === 'string') && Number.isInteger(base?.version);
}

export interface Drafts {
  load(): Draft | undefined;
  save(draft: Draft | undefined): void;
}

export type TextStatus = 'saved' | 'sending' | 'offline' | 'refused';

export interface SharedText {
  readonly value: ReadonlySignal<string>;
  readonly status: ReadonlySignal<TextStatus>;
  /** Why it cannot be stored as it is. */
  readonly refusal: ReadonlySignal<PoproomError | undefined>;
  /** Passages of this device that collided with those of another, until they are appended or dropped. */
  readonly unplaced: ReadonlySignal<readonly string[]>;
  /** By a person who sees `shown`, which may be older than what there is. */
  edit(text: string, shown?: string): void;
  /** Puts words at the end, on a line of their own. */
  append(words: string): void;
  dropUnplaced(index: number): void;
  /** The text as the server has it; news may overtake each other, and older ones are none. */
  receive(current: Version): void;
  /** The text that the server has when a channel opens. If that is older, the server has lost what came after. */
  begin(current: Version): void;
  online(isOnline: boolean): void;
  /** Sends and keeps what waits, without waiting for a pause in the typing. */
  flush(): void;
  /** Sends what waits and waits for the answer, but not for long; from then on nothing is sent or kept. */
  finish(): Promise<void>;
  /** The room is gone, and nothing of it is kept. */
  discard(): void;
}

interface Parts {
  write(content: string, baseVersion: number): Promise<WriteAnswer>;
  largest: number;
  drafts: Drafts;
}

/** Short enough to feel immediate, long enough not to send every letter. */
const pauseMs = 250;
const longestWaitMs = 1_000;
const finishWithinMs = 1_000;

export function createSharedText({ write, largest, drafts }: Parts): SharedText {
  const draft = drafts.load();
  /** Nothing, before the room has been seen. */
  const base = signal<Version>(draft?.base ?? { content: '', version: -1 });
  const mine = signal(draft?.mine ?? '');
  const unplaced = signal<readonly string[]>(draft?.unplaced ?? []);
  const isOnline = signal(false);
  const refused = signal<{ text: string; error: PoproomError } | undefined>(undefined);
  /** Sent and not answered. */
  let inFlight: string | undefined;
  /** Sent, and not known to be stored or not. */
  let uncertain = draft?.sent;
  let arrived: Version | undefined;
  /** Whether what the room has, as far as we know, was written here. */
  let isOwn = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waitingSince: number | undefined;
  let isKept = draft !== undefined;
  let isOver = false;
  let delivery = Promise.resolve();

  const isSaved = () => mine.value === base.value.content;
  const refusal = computed(() => {
    if (!fits(mine.value, largest)) return new PoproomError('CONTENT_TOO_LARGE', 'The text is too long.');
    return refused.value?.text === mine.value ? refused.value.error : undefined;
  });
  const status = computed<TextStatus>(() => {
    if (!isOnline.value) return 'offline';
    if (isSaved()) return 'saved';
    return refusal.value ? 'refused' : 'sending';
  });

  function schedule(): void {
    clearTimeout(timer);
    waitingSince ??= Date.now();
    timer = setTimeout(flush, Math.max(0, Math.min(pauseMs, waitingSince + longestWaitMs - Date.now())));
  }

  function flush(): void {
    if (isOver) return;
    if (inFlight === undefined) delivery = send();
    keepDraft();
  }

  function keepDraft(): void {
    if (isOver) return;
    const open = base.value.version >= 0 && (!isSaved() || unplaced.value.length > 0);
    const sent = inFlight ?? uncertain;
    if (open) drafts.save({ base: base.value, mine: mine.value, sent, unplaced: unplaced.value });
    else if (isKept) drafts.save(undefined);
    isKept = open;
  }

  async function send(): Promise<void> {
    clearTimeout(timer);
    waitingSince = undefined;
    const ready = isOnline.value && !isOver && inFlight === undefined && base.value.version >= 0;
    if (!ready || isSaved() || refusal.value) return;
    inFlight = mine.value;
    await deliver(inFlight);
    inFlight = undefined;
    settleArrived();
    keepDraft();
    if (!isSaved()) schedule();
  }

  async function deliver(sent: string): Promise<void> {
    try {
      const answer = await write(sent, base.value.version);
      if (answer.type === 'conflict') return rebase(answer);
      uncertain = undefined;
      isOwn = true;
      base.value = { content: sent, version: answer.version };
    } catch (error) {
      // A server whose store went silent on it does not know either.
      uncertain = sent;
      if (error instanceof PoproomError && error.code !== 'OFFLINE') refuse(sent, error);
    }
  }

  /** A store that was full or away may take it later; what is wrong with the text itself stays wrong. */
  function refuse(text: string, error: PoproomError): void {
    refused.value = { text, error };
    if (error.code === 'CONTENT_TOO_LARGE' || error.code === 'VALIDATION_FAILED') return;
    setTimeout(tryAgain, (error.retryAfter ?? 10) * 1000);
  }

  function tryAgain(): void {
    refused.value = undefined;
    if (!isOver && !isSaved()) schedule();
  }

  /** What is on its way, and then what was typed meanwhile. */
  async function deliverAll(): Promise<void> {
    await delivery;
    flush();
    await delivery;
  }

  function settleArrived(): void {
    const current = arrived;
    arrived = undefined;
    if (current && current.version > base.value.version) rebase(current);
  }

  function receive(current: Version): void {
    if (inFlight !== undefined) {
      arrived = current;
      return;
    }
    if (current.version > base.value.version) rebase(current);
    keepDraft();
    if (!isSaved()) schedule();
  }

  function begin(current: Version): void {
    const { content, version } = base.value;
    const differs = current.content !== content;
    if (current.version < version || (current.version === version && differs)) {
      if (isOwn && differs) place({ text: mine.value, unplaced: [content.trim()].filter(Boolean) });
      base.value = { content, version: current.version - 1 };
    }
    receive(current);
  }

  function rebase(current: Version): void {
    const merged = merge(commonBase(current), mine.value, current.content);
    uncertain = undefined;
    isOwn = false;
    base.value = { content: current.content, version: current.version };
    place(merged);
  }

  /** What both sides started from: the text that may have been stored unnoticed, if theirs has all that it brought. */
  function commonBase(current: Version): string {
    const { content, version } = base.value;
    if (uncertain === undefined) return content;
    if (current.content === uncertain) return uncertain;
    return current.version > version + 1 && keeps(content, uncertain, current.content) ? uncertain : content;
  }

  function edit(text: string, shown = mine.value): void {
    const typed = text.toWellFormed();
    if (shown === mine.value) mine.value = typed;
    else place(merge(shown, typed, mine.value));
    schedule();
  }

  function place({ text, unplaced: more }: Merged): void {
    mine.value = text;
    if (more.length > 0) unplaced.value = [...unplaced.value, ...more];
  }

  return {
    value: mine,
    status,
    refusal,
    unplaced,
    edit,

    append(words) {
      const present = mine.value;
      edit(present === '' ? words : `${present.replace(/\n?$/, '\n')}${words}`);
    },

    dropUnplaced(index) {
      unplaced.value = unplaced.value.filter((_, i) => i !== index);
      keepDraft();
    },

    receive,

    begin,

    online(now) {
      isOnline.value = now;
      // What the server could not take then, it may take now.
      refused.value = undefined;
      if (now && !isSaved()) schedule();
    },

    flush,

    async finish() {
      const tooLate = new Promise((resolve) => setTimeout(resolve, finishWithinMs));
      await Promise.race([deliverAll(), tooLate]);
      isOver = true;
      clearTimeout(timer);
    },

    discard() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Whether the text is within the server's limit, which counts bytes. */
function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || new TextEncoder().encode(text).length <= bytes;
}
