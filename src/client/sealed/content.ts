/** Reads and writes the text of an encrypted room by requests. The server cannot rebase, so each write reads first. */
import type { SeenVersion } from '../../protocol/sealed.ts';
import type { ContentEdited, HistoryText, RoomText, TextEdit } from '../../protocol/types.ts';
import { rebase, toChanges, toEdits } from '../../text/changes.ts';
import { diffTexts } from '../../text/diff.ts';
import { TextDocument } from '../../text/document.ts';
import { findProblem, insertsBefore } from '../../text/edits.ts';
import { damaged } from '../crypto/envelope.ts';
import type { EncryptedRoom } from '../crypto/keys.ts';
import { nextPosition, openText, sealEdits, sealSnapshot, sealText } from '../crypto/text-chain.ts';
import { invalidMessage, PoproomError, versionConflict } from '../error.ts';
import type { EditOptions, RoomCall, WriteOptions } from '../requests.ts';
import { isContentEdited, isContentRead, isHistoryText, isRoomInfo } from '../response-checks.ts';
import { delay, retryDelay } from '../retry.ts';
import type { CallOptions } from '../transport.ts';
import { exceeds, type OpenedVersion, openVersions, type SeenVersions, tooLarge } from './versions.ts';

/** The current text, with the versions that its response contains. */
interface Current extends OpenedVersion {
  versions: readonly OpenedVersion[];
  timestamp: string;
}

/** In bytes. Operators seldom set a lower limit, and the server limits the length of sealed texts too. */
const smallestLimit = 64 * 1024;
/** Others may be faster this many times in a row. */
const maxAttempts = 30;

export function createSealedContent(room: EncryptedRoom, seen: SeenVersions, call: RoomCall) {
  /** A response may arrive after newer messages, so it is compared with what was seen before the request. */
  async function readVersions(options: CallOptions = {}): Promise<Current> {
    const before = seen.position();
    const { version = -1, ...text } = await call('/content', isContentRead, options);
    const { newest, versions } = openVersions(room, { ...text, version }, before);
    seen.note(newest.position);
    return { ...newest, versions, timestamp: text.timestamp };
  }

  /** Writes again if someone else was faster. `prepare` returns the request, and may refuse the write for good. */
  async function write<T>(prepare: (current: Current) => Promise<() => Promise<T>>, options: CallOptions): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      const current = await readVersions(options);
      const attempt = await prepare(current);
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof PoproomError) || attempts >= maxAttempts) throw error;
        if (error.code === 'COMPACTION_REQUIRED') await compact(current, options);
        else if (!/^(EDIT|VERSION)_CONFLICT$/.test(error.code)) throw error;
        else if (attempts > 1) await delay(retryDelay(error, 1) / 10, options.signal);
      }
    }
  }

  /** Only the clients can check the size of the text. Short texts need no request for the limit. */
  async function checkSize(document: TextDocument, options: CallOptions): Promise<void> {
    if (!exceeds(document, smallestLimit)) return;
    const { limits } = await call('', isRoomInfo, options);
    if (limits && exceeds(document, limits.textBytes)) throw tooLarge(limits.textBytes);
  }

  async function compact({ position, document }: OpenedVersion, options: CallOptions): Promise<void> {
    const json = { content: sealSnapshot(room, position, document.toString()), version: position.version };
    const { version } = await call('/content/compact', isContentEdited, { method: 'POST', json, ...options });
    checkVersion(version, position);
  }

  /** The history has only full texts, so the edits since the last one would be lost with the text that they changed. */
  async function keepReplaced(current: Current, options: CallOptions): Promise<void> {
    if (current.versions.length === 1 || current.document.length === 0) return;
    await compact(current, options).catch((error: unknown) => {
      // As in other rooms, a text that does not fit into the history does not stop the write.
      if (!(error instanceof PoproomError) || error.code !== 'QUOTA_EXCEEDED') throw error;
    });
  }

  /** `editsOf` returns the edits of the current text. */
  function edit(editsOf: (current: Current) => readonly TextEdit[], options: CallOptions): Promise<ContentEdited> {
    return write(async (current) => {
      const edits = editsOf(current);
      const document = current.document.apply(edits);
      await checkSize(document, options);
      const sealed = sealEdits(room, current.position, edits);
      return () => sendEdit(sealed, current.position, document, options);
    }, options);
  }

  async function sendEdit(sealed: string, base: SeenVersion, document: TextDocument, options: CallOptions) {
    const request = { method: 'PATCH', json: { sealed, baseVersion: base.version }, ...options };
    const { success, version, timestamp, compact: isDue } = await call('/content', isContentEdited, request);
    const position = nextPosition(base, sealed);
    checkVersion(version, position);
    seen.note(position);
    // The edit is stored. If this fails, the next one is asked again.
    if (isDue) await compact({ position, document }, options).catch(() => undefined);
    return { success, version, timestamp };
  }

  async function sendText(content: string, { position }: Current, options: CallOptions): Promise<RoomText> {
    const sealed = sealText(room, position, content);
    const headers = { 'If-Match': `"${position.version}"` };
    const request = { method: 'POST', json: { content: sealed }, headers, ...options };
    const { version, timestamp } = await call('/content', isContentRead, request);
    const next = nextPosition(position, sealed);
    checkVersion(version ?? next.version, next);
    seen.note(next);
    return { content, version: next.version, timestamp };
  }

  return {
    async read(options?: CallOptions): Promise<RoomText> {
      const { position, document, timestamp } = await readVersions(options);
      return { content: document.toString(), version: position.version, timestamp };
    },

    write(content: string, { baseVersion, ...options }: WriteOptions = {}): Promise<RoomText> {
      return write(async (current) => {
        const { position, document, timestamp } = current;
        if (baseVersion !== undefined && baseVersion !== position.version)
          throw versionConflict({ content: document.toString(), version: position.version, timestamp });
        await checkSize(TextDocument.of(content), options);
        await keepReplaced(current, options);
        return () => sendText(content, current, options);
      }, options);
    },

    edit: (edits: readonly TextEdit[], { baseVersion, ...options }: EditOptions = {}) =>
      edit((current) => rebaseFrom(current, edits, baseVersion ?? current.position.version), options),

    append: (text: string, options: CallOptions = {}) =>
      edit(({ document: { length } }) => [{ from: length, to: length, insert: text }], options),

    async historyText(version: number, options?: CallOptions): Promise<HistoryText> {
      const entry = await call(`/history/${version}`, isHistoryText, options);
      if (entry.version !== version) throw damaged('The text');
      const { text, link } = openText(room, version, entry.content);
      seen.note(link);
      return { ...entry, content: text, size: new TextEncoder().encode(text).length };
    },
  };
}

/** Only the version that was sealed is accepted: the server could invent any other. */
function checkVersion(version: number, expected: SeenVersion): void {
  if (version !== expected.version) throw invalidMessage('the number of another version');
}

/** Rebases edits of an older version over the newer ones. */
function rebaseFrom(current: Current, edits: readonly TextEdit[], baseVersion: number): TextEdit[] {
  const { version } = current.position;
  const base = current.versions.find(({ position }) => position.version === baseVersion);
  if (!base) {
    const message = `Version ${baseVersion} is not in the log. Read the current version, ${version}, and edit that.`;
    throw new PoproomError('VERSION_CONFLICT', message, { details: { version } });
  }
  const { index } = findProblem(edits, base.document.length) ?? {};
  if (index !== undefined) {
    const message = `"edits[${index}]" does not fit the text of that version.`;
    throw new PoproomError('VALIDATION_FAILED', message, { details: { field: 'edits', index } });
  }
  if (baseVersion === version) return [...edits];
  const before = base.document.toString();
  const theirs = toChanges(diffTexts(before, current.document.toString()), before.length);
  return toEdits(rebase(toChanges(edits, before.length), theirs, insertsBefore(undefined, undefined)).mine);
}
