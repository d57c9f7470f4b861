/** `poproom clip`: keeps the clipboard and the text of a room in sync. */
import { createSharedText, type PoproomError, parseLinkId, type Room, type SharedText } from '../../client/index.ts';
import { permanentRefusals } from '../../client/text/receiver.ts';
import { type Clipboard, findClipboard, maxTextBytes } from '../clipboard.ts';
import { assertOnlyCode, type Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError, untilInterrupted } from '../errors.ts';
import { formatJson, printable, printNotice } from '../output.ts';
import { withRoom } from '../server-context.ts';
import { createAutoResetEvent, followText, printEnd } from './watch.ts';

const pollEveryMs = 1000;

export async function clip(input: Input): Promise<void> {
  assertOnlyCode('clip', input);
  await withRoom(input, async (room) => {
    if (parseLinkId(room.code)) throw new UsageError(needsCode);
    const open = findClipboard(readEnvironment());
    return untilInterrupted(async (signal) => printEnd(await synchronize(input, room, open(signal), signal)));
  });
}

const needsCode =
  '"poproom clip" also writes to the room, and needs its code. With a link, use "poproom watch LINK --exec" and a command such as pbcopy or wl-copy.';

/** Runs until the room ends or the clipboard fails. */
async function synchronize(input: Input, room: Room, clipboard: Clipboard, signal: AbortSignal) {
  const text = createSharedText();
  const step = createClipboardSync(clipboard, text, (transfer) => report(input, transfer));
  const changed = createAutoResetEvent();
  const failed = new AbortController();
  const syncing = syncAll().catch((error) => {
    failed.abort();
    throw error;
  });
  // Awaited below; without this, an earlier failure would be an unhandled rejection.
  syncing.catch(() => undefined);
  text.on('state', changed.set);
  try {
    return await followText({ room, text, signal: AbortSignal.any([signal, failed.signal]), onText: changed.set });
  } finally {
    changed.close();
    await syncing;
  }

  async function syncAll(): Promise<void> {
    while ((await changed.wait(pollEveryMs)) !== 'closed') await step();
  }
}

function report(input: Input, transfer: Transfer): void {
  if (input.isSet('json')) console.log(formatJson(transfer));
  else if (transfer.problem !== undefined) console.error(printable(transfer.problem));
  else printNotice(transfer.to === 'room' ? 'Clipboard → room' : 'Room → clipboard');
}

/** A problem is shown to the user. */
type Transfer = { to: 'room' | 'clipboard'; version: number; bytes: number; problem?: string };

/**
 * - `idle`: each step compares both sides;
 * - `sending`: the copied text is being sent to the room;
 * - `reverting`: the copied text is being removed again, because the room changed first or the server rejected it.
 */
type State = { name: 'idle' } | { name: 'sending'; copied: string } | { name: 'reverting' };

const idle: State = { name: 'idle' };

/**
 * Synchronizes the clipboard with a shared text. Returns a step, which compares both sides and starts at most one
 * transfer. The room wins over a copied text.
 */
function createClipboardSync(clipboard: Clipboard, text: SharedText, report: (transfer: Transfer) => void) {
  let state: State = idle;
  /** Both sides as of the last transfer; undefined before the first text. */
  let handled: { room: string; clipboard: string } | undefined;
  let reportedRejection: PoproomError | undefined;

  text.on('change', ({ origin }) => {
    if (origin === 'remote' && state.name === 'sending') revert();
  });

  text.on('state', () => {
    if (state.name === 'sending' && text.refusal !== reportedRejection) onRejected(state.copied, text.refusal);
    if (text.state !== 'synchronized') return;
    if (state.name === 'sending') {
      handled = { room: state.copied, clipboard: state.copied };
      reportTransfer('room', state.copied);
    }
    state = idle;
  });

  function reportTransfer(to: Transfer['to'], content: string, problem?: string, version = text.version): void {
    report({ to, version, bytes: Buffer.byteLength(content), ...(problem !== undefined && { problem }) });
  }

  /** A permanent rejection is final for this text. After any other one, the SDK sends the text again. */
  function onRejected(copied: string, refusal: PoproomError | undefined): void {
    reportedRejection = refusal;
    if (!refusal) return;
    if (permanentRefusals.includes(refusal.code)) {
      skip(copied, refusal.message);
      revert();
    } else reportTransfer('room', copied, `${notYetSent} ${refusal.message}`);
  }

  /** Reports the reason once. The same text is not sent again. */
  function skip(copied: string, reason: string): void {
    if (handled) handled = { ...handled, clipboard: copied };
    reportTransfer('room', copied, `${notSent} ${reason}`);
  }

  /** Restores the text of the room, because a merge of it with the copied text would be useless. */
  function revert(): void {
    const content = text.save()?.content;
    state = content === undefined ? idle : { name: 'reverting' };
    if (content !== undefined) text.replace(content);
  }

  async function toClipboard(): Promise<void> {
    const { value: content, version } = text;
    const existing = await clipboard.read();
    const before = handled;
    handled = { room: content, clipboard: content };
    // An empty room does not clear the clipboard at the start.
    if (existing === content || (!before && content === '')) return;
    await clipboard.write(content);
    const wasCopied =
      before && existing !== '' && !isVariantOf(existing, before.clipboard) && !isVariantOf(existing, content);
    reportTransfer('clipboard', content, wasCopied ? roomWasNewer : undefined, version);
  }

  async function toRoom(): Promise<void> {
    const copied = await clipboard.read();
    // An image or an empty clipboard does not clear the text of the room.
    if (copied === '' || isVariantOf(copied, handled?.clipboard)) return;
    // Changes of the room come first, and are unknown while offline.
    if (!text.isOnline || text.value !== handled?.room) return;
    if (Buffer.byteLength(copied) > maxTextBytes) return skip(copied, tooLong);
    if (copied === text.value) {
      handled = { room: copied, clipboard: copied };
      return;
    }
    state = { name: 'sending', copied };
    reportedRejection = text.refusal;
    text.replace(copied);
  }

  return async () => {
    if (state.name !== 'idle' || text.state === 'loading') return;
    if (text.value !== handled?.room) await toClipboard();
    else await toRoom();
  };
}

/**
 * Whether one text may be what the clipboard made of the other: some programs change line endings, or stop at a NUL.
 * Such a variant of the room's text must not be sent back to the room.
 */
const isVariantOf = (text: string, other: string | undefined) => other !== undefined && plain(text) === plain(other);

const plain = (text: string) => text.replace(/\0.*$/s, '').replaceAll('\r\n', '\n');

const notSent = 'The copied text was not sent to the room:';
const notYetSent = 'The copied text has not been sent to the room yet:';
const tooLong = 'it is larger than 1 MiB.';
const roomWasNewer = 'The text of the room was newer and replaced the copied text.';
