/** The clipboard and the text of a room, made the same one step at a time. */
import { type LiveRoom, PoproomError, type RoomText } from '../../client/index.ts';
import type { Clipboard } from '../clipboard.ts';
import { longestText } from '../clipboard-program.ts';

export interface Step {
  to: 'room' | 'clipboard';
  version: number;
  bytes: number;
  /** What the person should know. */
  problem?: string;
}

export interface Mirror {
  /** A text that the room tells of; it tells them in order. */
  toClipboard(text: RoomText): Promise<void>;
  /** Looks at the clipboard, and hands on what is new in it. */
  toRoom(): Promise<void>;
}

export function createMirror(clipboard: Clipboard, live: LiveRoom, tell: (step: Step) => void): Mirror {
  /** What both had at last; undefined before the first step. */
  let same: string | undefined;
  let version = -1;
  /** The last version that the room told of by itself. */
  let told = -1;

  async function toClipboard(text: RoomText): Promise<void> {
    // Answers to what we write overtake what the room tells: that is then older than what we know. One that is older
    // than what the room told before is not: the server has lost the newest.
    const isNews = text.version > version || text.version < told;
    told = text.version;
    if (isNews) await take(text);
  }

  async function take({ content, version: newer }: RoomText): Promise<void> {
    version = newer;
    const isStart = same === undefined;
    const held = await clipboard.read();
    const wasChanged = same !== undefined && held !== '' && !isForm(held, same) && !isForm(held, content);
    same = content;
    // A room without a text has nothing to give to someone who comes; the clipboard's goes there instead.
    if (held === content || (isStart && content === '')) return;
    await clipboard.write(content);
    tell(stepTo('clipboard', content, wasChanged ? roomWasNewer : undefined));
  }

  async function toRoom(): Promise<void> {
    const text = await clipboard.read();
    // A picture, or nothing, does not take the text away from the others.
    if (text === '' || isForm(text, same)) return;
    if (Buffer.byteLength(text) > longestText) return refuse(text, tooLong);
    try {
      const answer = await live.write(text, version);
      if (answer.type === 'conflict') return await take(answer);
      version = answer.version;
      same = text;
      tell(stepTo('room', text));
    } catch (error) {
      if (!(error instanceof PoproomError)) throw error;
      // Without a connection it stays as it is, and the next look tries again.
      if (error.code !== 'OFFLINE') refuse(text, error.message);
    }
  }

  /** Told once, and not tried again. */
  function refuse(text: string, why: string): void {
    same = text;
    tell(stepTo('room', text, `What you copied did not go to the room: ${why}`));
  }

  function stepTo(to: Step['to'], text: string, problem?: string): Step {
    return { to, version, bytes: Buffer.byteLength(text), ...(problem !== undefined && { problem }) };
  }

  return { toClipboard, toRoom };
}

/**
 * Whether one text may be what a clipboard has made of the other: some write the ends of lines in their own way, or stop
 * at a NUL. What it has made of a text of the room must not go back there.
 */
function isForm(one: string, other: string | undefined): boolean {
  return one === other || (other !== undefined && plain(one) === plain(other));
}

const plain = (text: string) => text.replace(/\0.*$/s, '').replaceAll('\r\n', '\n');

const tooLong = 'it is longer than 1 MiB.';
const roomWasNewer = 'The text of the room was newer, and has replaced what you copied.';
