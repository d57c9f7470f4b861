/** Seals the messages of a live channel to the server, and opens those from it. */
import type { SeenVersion } from '../../protocol/sealed.ts';
import type * as types from '../../protocol/types.ts';
import { diffTexts } from '../../text/diff.ts';
import { TextDocument } from '../../text/document.ts';
import { invertEdits } from '../../text/edits.ts';
import { hashOf } from '../crypto/envelope.ts';
import { authToken, type EncryptedRoom } from '../crypto/keys.ts';
import { openCaret, sealCaret, sealDeviceName } from '../crypto/metadata.ts';
import { hashAt, nextPosition, sealEdits, sealSnapshot, sealText } from '../crypto/text-chain.ts';
import { invalidMessage, PoproomError } from '../error.ts';
import type { ChannelCodec, SealedLink, SealedStart } from '../room-encryption.ts';
import { attempt } from '../shapes.ts';
import { createCompaction } from './compaction.ts';
import { createFileList, notEncrypted, openDevice, withRoomName } from './opened.ts';
import { exceeds, type OpenedVersion, openNext, openVersions, type SeenVersions, tooLarge } from './versions.ts';

/** A text or edit that was sent and is not answered yet. */
interface SentChange {
  readonly base: SeenVersion;
  readonly envelope: string;
  /** The edits as JSON, to send the same envelope again; undefined for a whole text. */
  readonly json: string | undefined;
  apply(version: ChannelVersion): Pick<ChannelVersion, 'document' | 'own'>;
}

interface ChannelVersion extends OpenedVersion {
  /** When it was written. */
  readonly timestamp: string;
  /** The parts that this device has written and the server has confirmed. */
  readonly own: OwnWords;
}

export function createChannelCodec(
  room: EncryptedRoom,
  seen: SeenVersions,
  start: SealedStart | undefined,
): ChannelCodec {
  const hasText = start !== undefined;
  let current: ChannelVersion | undefined;
  // Otherwise, the text has no chain to continue.
  if (start?.seen)
    current = { position: start.seen, document: TextDocument.of(start.content), timestamp: start.timestamp, own: [] };
  /** The version before a change that the shared text may have left out, because it first needs the edits before it. */
  let earlier: ChannelVersion | undefined;
  /** Own words that are missing in a version, and nothing proves that others have removed them. */
  let lost: { version: number; words: string } | undefined;
  /** The next full text must be at least as new as this version. */
  let floor = current?.position;
  /** The version of the last full text that the server has. */
  let fullText = 0;
  let maxBytes = Number.POSITIVE_INFINITY;
  let ownDevice = '';
  const sent = new Map<string, SentChange>();
  const files = createFileList(room);
  const compaction = createCompaction(() => {
    const { position, document } = current ?? {};
    if (!position?.version || !document) return undefined;
    fullText = position.version;
    return { version: position.version, content: sealSnapshot(room, position, document.toString()) };
  });

  function advance(next: ChannelVersion): void {
    current = next;
    if (isCurrent()) floor = next.position;
    seen.note(next.position);
  }

  /** Not after a return to an earlier version, until the edits after it have arrived again. */
  const isCurrent = () => (current?.position.version ?? 0) >= (floor?.version ?? 0);

  function load(text: types.RoomText): types.RoomText {
    earlier = current;
    const { first, newest } = openVersions(room, text, floor);
    fullText = first.position.version;
    const own = current ? ownAfterGap(current, first, newest) : [];
    advance({ ...newest, timestamp: text.timestamp, own });
    return { ...plainText(), lastRefs: storedRefs(text).filter(({ ref }) => isPlausible(ref, newest.position)) };
  }

  /** Whether a version may contain the edit that was sent with a ref. After a reload, its envelope is not known. */
  function isPlausible(ref: string, position: SeenVersion): boolean {
    const { base, envelope } = sent.get(ref) ?? {};
    if (!base || !envelope) return true;
    const stored = hashAt(position, base.version + 1);
    return base.version < position.version && (stored === undefined || stored === hashOf(envelope));
  }

  /** Words that others have removed are not lost: the hashes show that the new version continues the known one. */
  function ownAfterGap({ own, ...known }: ChannelVersion, first: OpenedVersion, newest: OpenedVersion): OwnWords {
    lost = undefined;
    if (own.length === 0) return own;
    const [before, after] = [known.document.toString(), newest.document.toString()];
    const oldestKnown = first.position.version - (first.position.earlier?.length ?? 0);
    const words = known.position.version >= oldestKnown ? '' : lostWords(own, before, after);
    if (words) lost = { version: newest.position.version, words };
    return onEdit(own, diffTexts(before, after));
  }

  const plainText = (): types.RoomText => ({
    content: current?.document.toString() ?? '',
    version: current?.position.version ?? 0,
    timestamp: current?.timestamp ?? '',
  });

  function onSealedEdit(message: types.SealedEdited): types.ServerMessage {
    const { type: _type, sealed, ref, ...rest } = message;
    const change = sent.get(ref ?? '');
    const isOwn = change?.envelope === sealed;
    // The server could pass off the edit of another device as the one that was sent, which would then be lost.
    const entry = ref === undefined || (change && !isOwn) ? rest : { ...rest, ref };
    const known = current?.position.version ?? -1;
    if (!current || entry.version > known + 1) throw invalidMessage('an edit without the edits before it');
    // The shared text ignores versions that it knows.
    if (entry.version <= known) return { type: 'edit', edits: [], ...entry };
    const { version, edits } = openNext(room, current, message, floor);
    advance({ ...version, timestamp: entry.timestamp, own: (isOwn ? onOwnEdit : onEdit)(current.own, edits) });
    return hasText ? { type: 'edit', edits, ...entry } : { type: 'content', seq: entry.seq, ...plainText() };
  }

  function onWritten(message: types.Written): types.ServerMessage {
    const { ref = '', version, compact } = message;
    const change = sent.get(ref);
    if (!current || (!change && version > current.position.version))
      throw invalidMessage('a response to something that was not sent');
    if (!change) return message;
    sent.delete(ref);
    compaction.onWritten(compact === true, version);
    const position = nextPosition(change.base, change.envelope);
    if (version <= current.position.version) {
      // Otherwise the server says that the text contains an edit that it does not contain.
      if (hashAt(current.position, version) === position.hash) return message;
      throw invalidMessage('a response that names another version');
    }
    if (version !== position.version || change.base.version !== current.position.version)
      throw invalidMessage('a response without the edits before it');
    earlier = current;
    advance({ position, timestamp: message.timestamp, ...change.apply(current) });
    return message;
  }

  /** In an encrypted room, a conflict does not contain the text: it arrived before. */
  function onConflict(message: types.Conflict): types.ServerMessage {
    sent.delete(message.ref ?? '');
    const { content, version } = plainText();
    return { ...message, ...(version === message.version && !hasText && { content }) };
  }

  function onError(message: types.Problem): types.ServerMessage {
    const { code, details } = message.error;
    // An earlier form of this edit was stored. Rejoining shows it.
    if (sent.has(message.ref ?? '') && details?.field === 'ref') throw invalidMessage('an edit that was stored before');
    sent.delete(message.ref ?? '');
    if (code !== 'COMPACTION_REQUIRED') return message;
    compaction.onRequired();
    return { ...message, error: { ...message.error, details: { ...details, retryAfter: 1 } } };
  }

  /** To the program, a copy of a file that it has is as good as removed. */
  function onFileAdded({ seq, file }: types.FileAdded): types.ServerMessage {
    const added = files.add(file);
    return added ? { type: 'file-added', seq, file: added } : { type: 'file-removed', seq, fileId: file.fileId };
  }

  function seal(message: types.ClientMessage): types.ClientMessage | LocalAnswer {
    if (message.type === 'edit') return sealEdit(message);
    if (message.type === 'caret') return sealedCaret(message);
    return message.type === 'content' ? sealWrite(message) : message;
  }

  function sealedCaret({ version, position, selectionEnd }: types.MoveCaret): types.ClientMessage {
    const positions: [number, number?] = selectionEnd === undefined ? [position] : [position, selectionEnd];
    return { type: 'sealed-caret', version, sealed: sealCaret(room, ownDevice, version, positions) };
  }

  /** One that does not open is left sealed, which shows it nowhere: it must not end the channel. */
  function onSealedCaret(message: types.SealedCaretMoved): types.ServerMessage {
    const { deviceId, version, sealed } = message;
    const [position, selectionEnd] = attempt(() => openCaret(room, deviceId, version, sealed)) ?? [];
    if (position === undefined) return message;
    return { type: 'caret', deviceId, version, position, ...(selectionEnd !== undefined && { selectionEnd }) };
  }

  function sealEdit({ edits, baseVersion, ref = '' }: types.EditText): types.ClientMessage | LocalAnswer {
    if (!current || baseVersion !== current.position.version || !isCurrent())
      return refusal(ref, notCurrent(plainText().version));
    const next = current.document.apply(edits);
    if (exceeds(next, maxBytes)) return refusal(ref, tooLarge(maxBytes));
    compaction.onEdit(edits, current.document.length);
    const envelope = envelopeFor(ref, current.position, edits);
    return { type: 'sealed-edit', sealed: envelope, baseVersion, ref };
  }

  /** The same edit of the same version has the same envelope, so that the server recognizes a repeated one. */
  function envelopeFor(ref: string, base: SeenVersion, edits: types.TextEdit[]): string {
    const json = JSON.stringify(edits);
    const earlier = sent.get(ref);
    if (earlier?.json === json && earlier.base.hash === base.hash) return earlier.envelope;
    const envelope = sealEdits(room, base, edits);
    sent.set(ref, {
      ...{ base, envelope, json },
      apply: ({ document, own }) => ({ document: document.apply(edits), own: onOwnEdit(own, edits) }),
    });
    return envelope;
  }

  function sealWrite({ content, baseVersion, ref = '' }: types.WriteText): types.ClientMessage | LocalAnswer {
    const text = plainText();
    if (!current || baseVersion !== text.version) return { type: 'conflict', ...text, ref };
    const document = TextDocument.of(content);
    if (exceeds(document, maxBytes)) return refusal(ref, tooLarge(maxBytes));
    // The history has only full texts, so the edits since the last one would be lost.
    if (current.position.version > fullText && current.document.length > 0) compaction.onReplace();
    const envelope = sealText(room, current.position, content);
    sent.set(ref, { base: current.position, envelope, json: undefined, apply: () => ({ document, own: [] }) });
    return { type: 'content', content: envelope, baseVersion, ref };
  }

  const openDevices = (devices: readonly types.RoomDevice[]) => devices.map((device) => openDevice(room, device));

  return {
    takeLost(version) {
      const words = lost?.version === version ? lost.words : undefined;
      lost = undefined;
      return words;
    },

    seenAt: (version) => [current, earlier].find((opened) => opened?.position.version === version)?.position,

    join(join) {
      // Whole texts are not sent again.
      for (const [ref, { json }] of sent) if (json === undefined) sent.delete(ref);
      floor = seen.newest(floor);
      const { deviceId, deviceName } = join;
      ownDevice = deviceId ?? '';
      const name = deviceId && deviceName ? { deviceName: sealDeviceName(room, deviceId, deviceName) } : {};
      const { deviceName: _plain, ...rest } = join;
      const auth = authToken(room.keys);
      return { ...continued(rest), ...name, ...(auth !== undefined && { auth }) };
    },

    onConnected: ({ send, receive }: SealedLink) => {
      compaction.onConnected(send);
      return (message) => {
        const sealed = seal(message);
        if (isAnswer(sealed)) queueMicrotask(() => receive(sealed));
        else send(sealed);
      };
    },

    onDisconnected: compaction.onDisconnected,

    open(message) {
      if (message.type === 'snapshot') return openSnapshot(message);
      if (message.type === 'content') return { type: 'content', seq: message.seq, ...load(message) };
      if (message.type === 'sealed-edit') return onSealedEdit(message);
      if (message.type === 'sealed-caret') return onSealedCaret(message);
      if (message.type === 'edit' || message.type === 'caret') throw notEncrypted();
      if (message.type === 'written') return onWritten(message);
      if (message.type === 'conflict') return onConflict(message);
      if (message.type === 'error') return onError(message);
      if (message.type === 'file-added') return onFileAdded(message);
      if (message.type === 'file-removed') files.remove(message.fileId);
      if (message.type === 'devices') return { ...message, devices: openDevices(message.devices) };
      if (message.type === 'devices-changed') return { ...message, joined: openDevices(message.joined) };
      return message.type === 'room' ? withRoomName(room, message) : message;
    },
  };

  function openSnapshot(message: types.Snapshot): types.ServerMessage {
    if (message.room.encrypted !== true) throw notEncrypted();
    maxBytes = message.room.limits?.textBytes ?? maxBytes;
    return {
      ...message,
      room: withRoomName(room, message.room),
      content: load(message.content),
      files: files.load(message.files),
      devices: openDevices(message.devices),
    };
  }

  /** The server can send only what was missed if it knows the version that this channel has. */
  function continued(join: types.Join): types.Join {
    const { seq, version, timestamp: _writtenAt, ...rest } = join;
    const [now, before] = [current, earlier].map((opened) => opened?.position.version);
    if (hasText && version !== undefined && before === version && now !== version) current = earlier;
    const isKnown = current !== undefined && (hasText ? version === current.position.version : seq !== undefined);
    if (!isKnown) return rest as types.Join;
    const { content: _content, ...known } = plainText();
    return { ...rest, ...(seq !== undefined && { seq }), ...known, edits: true };
  }
}

/** The edits that a text contains, as far as they are known. */
function storedRefs({ lastRefs = [], sealedEdits = [] }: types.RoomText): NonNullable<types.RoomText['lastRefs']> {
  const newer = sealedEdits.flatMap(({ deviceId, ref }) => (deviceId && ref ? [{ deviceId, ref }] : []));
  return [...lastRefs, ...newer];
}

type LocalAnswer = Extract<types.ServerMessage, { type: 'error' | 'conflict' }>;

const isAnswer = (message: types.ClientMessage | LocalAnswer): message is LocalAnswer =>
  message.type === 'error' || message.type === 'conflict';

const refusal = (ref: string, { code, message, details }: PoproomError): LocalAnswer => ({
  type: 'error',
  error: { code, message, details: { ...details } },
  ref,
});

const notCurrent = (version: number) =>
  new PoproomError('VERSION_CONFLICT', 'The edit is not based on the current version.', { details: { version } });

/** Which parts of a text this device has written, ascending, and neither empty, overlapping nor adjacent. */
export type OwnWords = readonly Range[];
type Range = Readonly<Record<'from' | 'to', number>>;

/** Others can split the ranges with each edit. Only the longest are kept. */
const maxRanges = 1000;

export function onOwnEdit(own: OwnWords, edits: readonly types.TextEdit[]): OwnWords {
  // The ranges that an undo would remove are those of the inserted text.
  return joinRanges([...onEdit(own, edits), ...invertEdits(edits, '')]);
}

/** An edit of another device. */
export function onEdit(own: OwnWords, edits: readonly types.TextEdit[]): OwnWords {
  const after: Range[] = [];
  let index = 0;
  let moved = 0;
  for (const range of own) {
    let { from } = range;
    for (let edit = edits[index]; edit && edit.from < range.to; edit = edits[index]) {
      if (edit.from > from) after.push({ from: from + moved, to: edit.from + moved });
      if (edit.to > range.to) {
        from = range.to;
        break;
      }
      moved += edit.insert.length - (edit.to - edit.from);
      from = Math.max(from, edit.to);
      index += 1;
    }
    if (from < range.to) after.push({ from: from + moved, to: range.to + moved });
  }
  return joinRanges(after);
}

/** The own words that a later text does not have anywhere, one per line. */
export function lostWords(own: OwnWords, before: string, after: string): string {
  const removed = diffTexts(before, after);
  const lost = own.flatMap((range) =>
    removed.flatMap(({ from, to }) => before.slice(Math.max(from, range.from), Math.min(to, range.to)).trim()),
  );
  return lost.filter((words) => words && !after.includes(words)).join('\n');
}

function joinRanges(ranges: readonly Range[]): OwnWords {
  const joined: Range[] = [];
  for (const { from, to } of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else if (from < to) joined.push({ from, to });
  }
  if (joined.length <= maxRanges) return joined;
  const longest = joined.toSorted((one, other) => other.to - other.from - (one.to - one.from)).slice(0, maxRanges);
  return longest.toSorted((one, other) => one.from - other.from);
}
