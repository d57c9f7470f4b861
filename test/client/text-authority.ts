/** The server's side of a shared text: the real core over a store in memory, and sessions as the live channel has them. */
import assert from 'node:assert/strict';
import type { PoproomError } from '../../src/core/errors.ts';
import type { EventBus, RoomStore } from '../../src/core/ports/rooms.ts';
import {
  type StoredText,
  type TextAppend,
  type TextEntry,
  type TextStore,
  withRefsOf,
} from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { createTexts } from '../../src/core/text/texts.ts';
import type { EditText, ServerMessage, TextEdited } from '../../src/protocol/types.ts';
import { checksumOf } from '../../src/text/document.ts';
import { applyEdits } from '../../src/text/edits.ts';
import { defaultLimits } from '../support/no-quota.ts';

const code = 'ROOM42' as RoomCode;

export interface Authority {
  readonly text: string;
  readonly version: number;
  /** All entries since the beginning, however much of the log was dropped. */
  readonly log: readonly TextEntry[];
  join(session: Session, join: { version?: number; timestamp?: string; needsSnapshot?: boolean }): Promise<void>;
  receive(session: Session, message: EditText): Promise<void>;
  /** Drops the log, so that clients that reconnect get a snapshot. */
  dropLog(): void;
  /** Loses the newest versions, as a failover may. */
  dropNewest(count: number): void;
}

export interface Session {
  deviceId: string;
  send(message: ServerMessage): void;
  /** A session that has ended receives nothing, but what it sent before may still arrive. */
  isOpen: boolean;
}

export function createAuthority(now: () => number, largestContent = 1_000_000): Authority {
  const log: TextEntry[] = [];
  let kept = 0;
  const sessions = new Set<Session>();
  /** By the session that sent an edit, its ref, until it is stored. */
  let origin: Session | undefined;
  const textAt = (length: number) => log.slice(0, length).reduce((text, { edits }) => applyEdits(text, edits), '');
  let current = '';
  let revision = 0;

  const store = {
    async readText(): Promise<StoredText> {
      const writtenAt = log.at(-1)?.writtenAt ?? 0;
      return {
        content: { content: current, version: log.length, writtenAt },
        entries: log.slice(kept),
        logBytes: 0,
        lastRefs: withRefsOf([], log),
        revision,
        fullTextVersion: 0,
        checkpointVersion: 0,
        keepsHistory: false,
      };
    },
    async readState() {
      return { text: { version: log.length } };
    },
    async readEdits() {
      return 'no-log';
    },
    async appendText(_code: RoomCode, { entry, revision: next, previousRevision }: TextAppend) {
      assert.equal(previousRevision, revision);
      revision = next;
      log.push(entry);
      current = applyEdits(current, entry.edits);
      return { outcome: 'appended' as const, seq: log.length };
    },
  } as unknown as RoomStore & TextStore;

  const bus = {
    publish(_code: RoomCode, { entry }: { entry: TextEntry }) {
      for (const session of sessions) if (session !== origin) session.send(editMessage(entry, textAt(entry.version)));
    },
  } as unknown as EventBus;

  const texts = createTexts({ rooms: store, texts: store, bus, clock: now }, { largestContent });

  return {
    get text() {
      return current;
    },
    get version() {
      return log.length;
    },
    log,

    async join(session, { version, timestamp, needsSnapshot }) {
      const missed = version === undefined ? undefined : missedSince(version, timestamp);
      for (const entry of missed ?? []) session.send(editMessage(entry, textAt(entry.version)));
      session.send(missed && !needsSnapshot ? devices : snapshot());
      sessions.add(session);
    },

    async receive(session, { edits, baseVersion, ref }) {
      origin = session;
      const echo = ref === undefined ? {} : { ref };
      try {
        const { deviceId } = session;
        const written = await texts.edit(code, { edits, baseVersion, deviceId, ref });
        const { version } = written;
        const check = checkOf(textAt(version));
        session.send({ type: 'written', seq: 0, version, timestamp: iso(written.writtenAt), ...echo, ...check });
      } catch (error) {
        const { code, message, details } = error as PoproomError;
        if (!code) throw error;
        session.send({ type: 'error', error: { code, message, ...(details && { details }) }, ...echo });
      } finally {
        origin = undefined;
      }
    },

    dropLog() {
      kept = log.length;
      texts.forget(code);
    },

    dropNewest(count) {
      log.length = Math.max(0, log.length - count);
      kept = Math.min(kept, log.length);
      current = textAt(log.length);
      texts.forget(code);
    },
  };

  function missedSince(version: number, timestamp: string | undefined): readonly TextEntry[] | undefined {
    const own = log[version - 1];
    const isSame = version === 0 || (own && iso(own.writtenAt) === timestamp);
    return version >= kept && version <= log.length && isSame ? log.slice(version) : undefined;
  }

  function snapshot(): ServerMessage {
    const timestamp = iso(log.at(-1)?.writtenAt ?? 0);
    const lastRefs = withRefsOf([], log).map(({ deviceId, ref }) => ({ deviceId, ref }));
    const content = { content: current, version: log.length, timestamp, lastRefs };
    const room = { roomId: code, expiresAt: iso(0), hasPin: false, limits: defaultLimits };
    return { type: 'snapshot', seq: 0, room, content, files: [], devices: [], pinAttempts: 0 };
  }
}

const devices: ServerMessage = { type: 'devices', seq: 0, devices: [] };

function editMessage({ version, edits, deviceId, ref, writtenAt }: TextEntry, after: string): TextEdited {
  const timestamp = iso(writtenAt);
  // As it comes from the wire: nothing is shared with the server.
  const copies = edits.map((edit) => ({ ...edit }));
  return {
    type: 'edit',
    seq: 0,
    version,
    edits: copies,
    timestamp,
    ...(deviceId && { deviceId }),
    ...(ref && { ref }),
    ...checkOf(after),
  };
}

const checkOf = (text: string) => ({ length: text.length, checksum: checksumOf(text) });

const iso = (ms: number) => new Date(ms).toISOString();
