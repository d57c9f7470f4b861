/** The versions of the text of an encrypted room: opens each, and checks that it continues what this device has seen. */
import type { SeenVersion } from '../../protocol/sealed.ts';
import type { RoomText, SealedEdit, TextEdit } from '../../protocol/types.ts';
import { TextDocument } from '../../text/document.ts';
import { findProblem, splitsPair } from '../../text/edits.ts';
import { damaged } from '../crypto/envelope.ts';
import type { EncryptedRoom } from '../crypto/keys.ts';
import { advanceChain, chainStart, checkFork, openEdits, openText } from '../crypto/text-chain.ts';
import { PoproomError } from '../error.ts';
import { notEncrypted } from './opened.ts';

/** A version of the text that was opened and verified. */
export interface OpenedVersion {
  readonly position: SeenVersion;
  readonly document: TextDocument;
}

type SealedRoomText = Pick<RoomText, 'content' | 'version' | 'contentVersion' | 'sealedEdits'>;

/** Opens a full text and the edits after it. Throws `ROLLBACK` or `FORK` if that does not continue `seen`. */
export function openVersions(room: EncryptedRoom, text: SealedRoomText, seen: SeenVersion | undefined) {
  const { sealedEdits = [], version } = text;
  if (seen && version < seen.version) advanceChain(seen, { version, hash: '' });
  const first = openFullText(room, text, seen);
  let newest = first;
  const versions = [first];
  for (const edit of sealedEdits) {
    newest = openNext(room, newest, edit, seen).version;
    versions.push(newest);
  }
  if (newest.position.version !== version) throw damaged('The text');
  return { first, newest, versions };
}

/** Opens the edit after a version. */
export function openNext(
  room: EncryptedRoom,
  { position, document }: OpenedVersion,
  { version, sealed }: Pick<SealedEdit, 'version' | 'sealed'>,
  seen?: SeenVersion,
): { version: OpenedVersion; edits: TextEdit[] } {
  if (version !== position.version + 1) throw damaged('The text');
  const { edits: opened, link } = openEdits(room, version, sealed);
  // All devices ignore edits that do not fit, so a faulty client cannot make the room unusable.
  const edits = fits(opened, document) ? opened : [];
  checkSeen(seen, link);
  return { version: { position: advanceChain(position, link), document: document.apply(edits) }, edits };
}

function openFullText(
  room: EncryptedRoom,
  { content, contentVersion }: SealedRoomText,
  seen: SeenVersion | undefined,
): OpenedVersion {
  if (contentVersion === undefined) throw notEncrypted();
  if (contentVersion === 0 && content === '') return { position: chainStart, document: TextDocument.of('') };
  const { text, link } = openText(room, contentVersion, content);
  checkSeen(seen, link);
  return { position: advanceChain(undefined, link), document: TextDocument.of(text) };
}

/** An older link is compared when a later one reaches what was seen. */
function checkSeen(seen: SeenVersion | undefined, link: SeenVersion): void {
  if (seen && link.version >= seen.version) advanceChain(seen, link);
}

function fits(edits: readonly TextEdit[], document: TextDocument): boolean {
  if (findProblem(edits, document.length)) return false;
  return !edits.some(({ from, to }) => cuts(document, from) || cuts(document, to));
}

function cuts(document: TextDocument, position: number): boolean {
  const around = position > 0 ? document.slice(position - 1, position + 1) : '';
  return splitsPair(around.charCodeAt(0), around.charCodeAt(1));
}

export type SeenVersions = ReturnType<typeof createSeenVersions>;

/** The newest version of the text that this device has seen, whether by a request or on a live channel. */
export function createSeenVersions(start: SeenVersion | undefined, onSeen: (seen: SeenVersion) => void) {
  let newest = start;
  return {
    position: () => newest,
    /** Throws `FORK` if a version differs from what was seen in another way. */
    note(position: SeenVersion) {
      // A response may arrive after newer messages.
      if (newest && newest.version >= position.version) return checkFork(newest, position);
      newest = advanceChain(newest, position);
      onSeen(newest);
    },
    /** The newer one of this and another position. */
    newest: (other: SeenVersion | undefined) => (newest && newest.version > (other?.version ?? -1) ? newest : other),
  };
}

/** Only the clients can check the size. A code unit has at most three bytes, so only texts near the limit are measured. */
export function exceeds(document: TextDocument, maxBytes: number): boolean {
  if (document.length * 3 <= maxBytes) return false;
  return document.length > maxBytes || new TextEncoder().encode(document.toString()).length > maxBytes;
}

export function tooLarge(maximum: number): PoproomError {
  const message = `The text exceeds the limit of ${maximum} bytes of UTF-8.`;
  return new PoproomError('CONTENT_TOO_LARGE', message, { details: { maximum } });
}
