/** The files of a room for one zip archive, and the tickets that let a browser download it by a link. */
import type { Readable } from 'node:stream';
import { type LinkId, parseLinkId, parseRoomCode } from '../../protocol/room-code.ts';
import { admit, type Caller, checkRight, linkMissing } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import { orMissing, PoproomError } from '../errors.ts';
import { tokenRoomOf } from '../links.ts';
import type { StoredFile } from '../ports/files.ts';
import type { RoomCode } from '../room-code.ts';
import { createTickets, type IssuedTicket } from '../tokens.ts';
import { localPaths } from './local-name.ts';

interface ZippedFile extends Pick<StoredFile, 'id' | 'blob' | 'size'> {
  /** Unique in the archive, and safe on every system. */
  path: string;
  modifiedAt: number;
}

export interface RoomZip {
  /** Undefined for the holder of a link, who must not learn it. */
  code: RoomCode | undefined;
  files: ZippedFile[];
}

/** The ids of the files to include; undefined for all of them. */
export type Selection = ReadonlySet<string> | undefined;

export type Zips = ReturnType<typeof createZips>;

export function createZips(deps: CoreDeps) {
  const { rooms, files, blobs, clock, secret } = deps;
  const tickets = createTickets(secret, clock);

  const stateOf = async (code: RoomCode) => orMissing(await rooms.readState(code, clock()));

  async function listByTicketOfLink(id: LinkId, ticket: string, selection: Selection): Promise<RoomZip> {
    const found = await deps.links.findLink(id, clock());
    if (!found) throw linkMissing();
    if (!tickets.isFor(ticket, tokenRoomOf(found.link))) throw invalidTicket();
    checkRight(found.link.role, 'listFiles');
    const { files: stored } = await stateOf(found.code);
    return { code: undefined, files: zippedFiles(stored, selection) };
  }

  return {
    /** `roomId` is the code, or the id of the link. */
    async issueTicket(caller: Caller): Promise<IssuedTicket & { roomId: string }> {
      const { code, link } = await admit(deps, caller, 'listFiles');
      if (link) return { roomId: link.id, ...tickets.issue(tokenRoomOf(link)) };
      return { roomId: code, ...tickets.issue(await stateOf(code)) };
    },

    async list(caller: Caller, selection: Selection): Promise<RoomZip> {
      const { code, link } = await admit(deps, caller, 'listFiles');
      const listed = orMissing(await files.listFiles(code, clock()));
      return { code: link ? undefined : code, files: zippedFiles(listed, selection) };
    },

    /** For a genuine ticket; see `tokens.ts`. It may belong to an earlier room with this code. */
    async listByTicket(roomId: string, ticket: string, selection: Selection): Promise<RoomZip> {
      const link = parseLinkId(roomId);
      if (link) return listByTicketOfLink(link, ticket, selection);
      const code = parseRoomCode(roomId);
      if (!code) throw invalidTicket();
      const state = await stateOf(code);
      if (!tickets.isFor(ticket, state)) throw invalidTicket();
      return { code, files: zippedFiles(state.files, selection) };
    },

    /** Checks again that the file is in its room: it may have been removed since it was listed. */
    async open({ id, blob }: ZippedFile): Promise<Readable> {
      const isListed = await files.findFile(id, clock());
      if (!isListed) throw notFound('A file was removed while the archive was being downloaded.');
      const bytes = await blobs.open(blob, undefined);
      if (!bytes) throw new Error('The bytes of a file are missing.');
      return bytes;
    },
  };
}

function zippedFiles(all: readonly StoredFile[], selection: Selection): ZippedFile[] {
  // An archive must not use up one-time files.
  const files = all.filter(({ id, once }) => !once && (selection?.has(id) ?? true));
  if (!selection && files.length === 0) throw notFound('There are no files in this room.');
  if (selection && files.length < selection.size) throw notFound('At least one of these files is not in this room.');
  // Windows has the strictest rules for names.
  const named = files.map((file) => ({ ...file, fileName: file.name }));
  const paths = localPaths(named, 'win32').map((path) => path.join('/'));
  return files.map(({ id, blob, size, uploadedAt: modifiedAt }, i) => {
    return { id, blob, size, path: paths[i] ?? id, modifiedAt };
  });
}

export const invalidTicket = () =>
  new PoproomError('INVALID_TICKET', 'This link has expired or belongs to another room. Request a new one.');

const notFound = (message: string) => new PoproomError('FILE_NOT_FOUND', message);
