/** Seals the messages of a live channel to the server, and opens those from it. */
import type {
  ClientMessage,
  EditText,
  Join,
  RoomText,
  ServerMessage,
  TextEdit,
  WriteText,
} from '../../protocol/types.ts';
import { TextDocument } from '../../text/document.ts';
import {
  authToken,
  type ChainPosition,
  type EncryptedRoom,
  hashOf,
  sealDeviceName,
  sealEdits,
  sealSnapshot,
  sealText,
} from '../crypto/index.ts';
import type { ChannelCodec, SealedLink, SealedStart } from '../encryption.ts';
import { invalidMessage, PoproomError } from '../error.ts';
import { createCompaction } from './compaction.ts';
import { notEncrypted } from './not-encrypted.ts';
import { openDevice, openFile, withRoomName } from './opened.ts';
import { type OpenedVersion, openNext, openVersion } from './sealed-text.ts';
import type { SeenVersions } from './seen-versions.ts';
import { exceeds, tooLarge } from './text-limit.ts';

/** A text or edit that was sent and is not answered yet. */
interface SentChange {
  readonly base: ChainPosition;
  readonly envelope: string;
  /** The edits as JSON, to send the same envelope again; undefined for a whole text. */
  readonly json: string | undefined;
  apply(document: TextDocument): TextDocument;
}

export function createChannelCodec(
  room: EncryptedRoom,
  seen: SeenVersions,
  start: SealedStart | undefined,
): ChannelCodec {
  const hasText = start !== undefined;
  let current = start && startVersion(start);
  let timestamp = start?.timestamp ?? '';
  /** The next full text must be at least as new as this version. */
  let floor = current?.position;
  let maxBytes = Number.POSITIVE_INFINITY;
  const sent = new Map<string, SentChange>();
  const compaction = createCompaction(() => {
    const { position, document } = current ?? {};
    if (!position?.version || !document) return undefined;
    return { version: position.version, content: sealSnapshot(room, position, document.toString()) };
  });

  function advance(next: OpenedVersion, writtenAt: string): void {
    current = next;
    timestamp = writtenAt;
    floor = next.position;
    seen.note(next.position);
  }

  function load(text: RoomText): RoomText {
    advance(openVersion(room, text, floor), text.timestamp);
    return plainText();
  }

  const plainText = (): RoomText => ({
    content: current?.document.toString() ?? '',
    version: current?.position.version ?? 0,
    timestamp,
  });

  function onSealedEdit(message: Extract<ServerMessage, { type: 'sealed-edit' }>): ServerMessage {
    const { type: _type, sealed: _sealed, ...entry } = message;
    const known = current?.position.version ?? -1;
    if (!current || entry.version > known + 1) throw invalidMessage('an edit without the edits before it');
    // The shared text ignores versions that it knows.
    if (entry.version <= known) return { type: 'edit', edits: [], ...entry };
    const { version, edits } = openNext(room, current, message);
    advance(version, entry.timestamp);
    return hasText ? { type: 'edit', edits, ...entry } : { type: 'content', seq: entry.seq, ...plainText() };
  }

  function onWritten(message: Extract<ServerMessage, { type: 'written' }>): ServerMessage {
    const { ref = '', version, compact } = message;
    const change = sent.get(ref);
    if (!change || !current) return message;
    sent.delete(ref);
    compaction.onWritten(compact === true);
    if (version <= current.position.version) return message;
    if (version !== change.base.version + 1 || change.base.version !== current.position.version)
      throw invalidMessage('a response without the edits before it');
    const document = change.apply(current.document);
    advance({ position: { version, hash: hashOf(change.envelope) }, document }, message.timestamp);
    return message;
  }

  /** In an encrypted room, a conflict does not contain the text: it arrived before. */
  function onConflict(message: Extract<ServerMessage, { type: 'conflict' }>): ServerMessage {
    sent.delete(message.ref ?? '');
    const { content, version } = plainText();
    return { ...message, ...(version === message.version && !hasText && { content }) };
  }

  function onError(message: Extract<ServerMessage, { type: 'error' }>): ServerMessage {
    const { code, details } = message.error;
    // An earlier form of this edit was stored. Rejoining shows it.
    if (sent.has(message.ref ?? '') && details?.field === 'ref') throw invalidMessage('an edit that was stored before');
    sent.delete(message.ref ?? '');
    if (code !== 'COMPACTION_REQUIRED') return message;
    compaction.onRequired();
    return { ...message, error: { ...message.error, details: { ...details, retryAfter: 1 } } };
  }

  function seal(message: ClientMessage): ClientMessage | LocalAnswer {
    if (message.type === 'edit') return sealEdit(message);
    return message.type === 'content' ? sealWrite(message) : message;
  }

  function sealEdit({ edits, baseVersion, ref = '' }: EditText): ClientMessage | LocalAnswer {
    if (!current || baseVersion !== current.position.version) return refusal(ref, notCurrent(plainText().version));
    const next = current.document.apply(edits);
    if (exceeds(next, maxBytes)) return refusal(ref, tooLarge(maxBytes));
    compaction.onEdit(edits, current.document.length);
    const envelope = envelopeFor(ref, current.position, edits);
    return { type: 'sealed-edit', sealed: envelope, baseVersion, ref };
  }

  /** The same edit of the same version has the same envelope, so that the server recognizes a repeated one. */
  function envelopeFor(ref: string, base: ChainPosition, edits: TextEdit[]): string {
    const json = JSON.stringify(edits);
    const earlier = sent.get(ref);
    if (earlier?.json === json && earlier.base.hash === base.hash) return earlier.envelope;
    const envelope = sealEdits(room, base, edits);
    sent.set(ref, { base, envelope, json, apply: (document) => document.apply(edits) });
    return envelope;
  }

  function sealWrite({ content, baseVersion, ref = '' }: WriteText): ClientMessage | LocalAnswer {
    const text = plainText();
    if (!current || baseVersion !== text.version) return { type: 'conflict', ...text, ref };
    const document = TextDocument.of(content);
    if (exceeds(document, maxBytes)) return refusal(ref, tooLarge(maxBytes));
    const envelope = sealText(room, current.position, content);
    sent.set(ref, { base: current.position, envelope, json: undefined, apply: () => document });
    return { type: 'content', content: envelope, baseVersion, ref };
  }

  /** Whole texts are not sent again. */
  function forgetWrites(): void {
    for (const [ref, { json }] of sent) if (json === undefined) sent.delete(ref);
  }

  return {
    get seen() {
      return current?.position;
    },

    join(join) {
      forgetWrites();
      floor = seen.newest(floor);
      const { deviceId, deviceName } = join;
      const name = deviceId && deviceName ? { deviceName: sealDeviceName(room, deviceId, deviceName) } : {};
      const { deviceName: _plain, ...rest } = join;
      return { ...continued(rest), ...name, auth: authToken(room.keys) };
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
      switch (message.type) {
        case 'snapshot':
          return openSnapshot(message);
        case 'content':
          return { type: 'content', seq: message.seq, ...load(message) };
        case 'sealed-edit':
          return onSealedEdit(message);
        case 'edit':
          throw notEncrypted();
        case 'written':
          return onWritten(message);
        case 'conflict':
          return onConflict(message);
        case 'error':
          return onError(message);
        case 'file-added':
          return { ...message, file: openFile(room, message.file) };
        case 'devices':
          return { ...message, devices: message.devices.map((device) => openDevice(room, device)) };
        case 'room':
          return withRoomName(room, message);
        default:
          return message;
      }
    },
  };

  function openSnapshot(message: Extract<ServerMessage, { type: 'snapshot' }>): ServerMessage {
    if (message.room.encrypted !== true) throw notEncrypted();
    maxBytes = message.room.limits?.textBytes ?? maxBytes;
    return {
      ...message,
      room: withRoomName(room, message.room),
      content: load(message.content),
      files: message.files.map((file) => openFile(room, file)),
      devices: message.devices.map((device) => openDevice(room, device)),
    };
  }

  /** The server can send only what was missed if it knows the version that this channel has. */
  function continued(join: Join): Join {
    const { seq, version, timestamp: _time, ...rest } = join;
    const isKnown = current !== undefined && (hasText ? version === current.position.version : seq !== undefined);
    if (!isKnown || seq === undefined) return rest as Join;
    return { ...rest, seq, version: current?.position.version ?? 0, timestamp, edits: true };
  }
}

/** Undefined if the text has no chain to continue. */
function startVersion({ seen, content }: SealedStart): OpenedVersion | undefined {
  return seen && { position: seen, document: TextDocument.of(content) };
}

type LocalAnswer = Extract<ServerMessage, { type: 'error' | 'conflict' }>;

const isAnswer = (message: ClientMessage | LocalAnswer): message is LocalAnswer =>
  message.type === 'error' || message.type === 'conflict';

const refusal = (ref: string, { code, message, details }: PoproomError): LocalAnswer => ({
  type: 'error',
  error: { code, message, details: { ...details } },
  ref,
});

const notCurrent = (version: number) =>
  new PoproomError('VERSION_CONFLICT', 'The edit is not based on the current version.', { details: { version } });
