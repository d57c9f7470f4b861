/** Makes the clipboard and a shared text the same, one step at a time. The text of the room wins over a copied one. */
import type { PoproomError, SharedText } from '../../client/index.ts';
import type { Clipboard } from '../clipboard.ts';
import { longestText } from '../clipboard-program.ts';

export interface Transfer {
  to: 'room' | 'clipboard';
  version: number;
  bytes: number;
  /** What the person should know. */
  problem?: string;
}

export interface ClipboardSync {
  /** Compares both sides and starts at most one transfer. */
  step(): Promise<void>;
}

/**
 * - `idle`: each step compares both sides;
 * - `sending`: the copied text is on its way to the room;
 * - `reverting`: the room changed before the copied text arrived, or refused it, and it is being taken out again.
 */
type State = { name: 'idle' } | { name: 'sending'; copied: string } | { name: 'reverting' };

const idle: State = { name: 'idle' };

const definiteRefusals: readonly string[] = ['CONTENT_TOO_LARGE', 'QUOTA_EXCEEDED', 'VALIDATION_FAILED'];

export function createClipboardSync(
  clipboard: Clipboard,
  text: SharedText,
  report: (transfer: Transfer) => void,
): ClipboardSync {
  let state: State = idle;
  /** What each side had when it was last handled; undefined before the first text. */
  let handled: { room: string; clipboard: string } | undefined;
  let reportedRefusal: PoproomError | undefined;

  text.on('change', ({ origin }) => {
    if (origin === 'remote' && state.name === 'sending') revert();
  });

  text.on('state', () => {
    if (state.name === 'sending' && text.refusal !== reportedRefusal) onRefused(state.copied, text.refusal);
    if (text.state === 'synchronized') onStored();
  });

  function onStored(): void {
    if (state.name === 'sending') {
      handled = { room: state.copied, clipboard: state.copied };
      report(transferOf('room', state.copied, text.version));
    }
    state = idle;
  }

  /** The same text would be refused again; other refusals pass, and the text is sent again automatically. */
  function onRefused(copied: string, refusal: PoproomError | undefined): void {
    reportedRefusal = refusal;
    if (!refusal) return;
    if (!definiteRefusals.includes(refusal.code)) {
      report(transferOf('room', copied, text.version, `${notYetSent} ${refusal.message}`));
      return;
    }
    reject(copied, refusal.message);
    revert();
  }

  /** Reported once; the same text is not tried again. */
  function reject(copied: string, reason: string): void {
    if (handled) handled = { ...handled, clipboard: copied };
    report(transferOf('room', copied, text.version, `${notSent} ${reason}`));
  }

  /** Back to the text of the room, without the copied one: the two merged would be of no use to anyone. */
  function revert(): void {
    const saved = text.save();
    state = saved ? { name: 'reverting' } : idle;
    if (saved) text.replace(saved.content);
  }

  async function toClipboard(): Promise<void> {
    const { value: content, version } = text;
    const held = await clipboard.read();
    const before = handled;
    handled = { room: content, clipboard: content };
    // The clipboard of a person who joins an empty room goes to the room.
    if (held === content || (!before && content === '')) return;
    await clipboard.write(content);
    const wasCopied = before && held !== '' && !isFormOf(held, before.clipboard) && !isFormOf(held, content);
    report(transferOf('clipboard', content, version, wasCopied ? roomWasNewer : undefined));
  }

  async function toRoom(): Promise<void> {
    const copied = await clipboard.read();
    // A picture, or an empty clipboard, does not clear the text of the others.
    if (copied === '' || isFormOf(copied, handled?.clipboard)) return;
    // Changes of the room come first, and without a connection they are not known.
    if (!text.isOnline || text.value !== handled?.room) return;
    if (Buffer.byteLength(copied) > longestText) return reject(copied, tooLong);
    if (copied === text.value) handled = { room: copied, clipboard: copied };
    else send(copied);
  }

  function send(copied: string): void {
    state = { name: 'sending', copied };
    reportedRefusal = text.refusal;
    text.replace(copied);
  }

  return {
    async step() {
      if (state.name !== 'idle' || text.state === 'loading') return;
      if (text.value !== handled?.room) await toClipboard();
      else await toRoom();
    },
  };
}

function transferOf(to: Transfer['to'], content: string, version: number, problem?: string): Transfer {
  return { to, version, bytes: Buffer.byteLength(content), ...(problem !== undefined && { problem }) };
}

/**
 * Whether a text may be what the clipboard made of another: some programs change the line endings, or stop at a NUL.
 * Such a form of the room's text must not go back to the room.
 */
function isFormOf(text: string, other: string | undefined): boolean {
  return text === other || (other !== undefined && plain(text) === plain(other));
}

const plain = (text: string) => text.replace(/\0.*$/s, '').replaceAll('\r\n', '\n');

const notSent = 'What you copied did not go to the room:';
const notYetSent = 'What you copied has not reached the room yet:';
const tooLong = 'it is longer than 1 MiB.';
const roomWasNewer = 'The text of the room was newer, and has replaced what you copied.';
