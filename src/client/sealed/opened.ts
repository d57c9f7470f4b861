/** Opens the names and file metadata of an encrypted room. Those that do not open are unknown, so that one cannot hide all others. */
import { cleanFileName, cleanFolder, cleanType } from '../../protocol/file-name.ts';
import { linkDevicePrefix } from '../../protocol/link-rights.ts';
import type { FileEntry, RoomDevice } from '../../protocol/types.ts';
import { encodeBase64url } from '../crypto/base64url.ts';
import { damaged } from '../crypto/envelope.ts';
import type { EncryptedRoom } from '../crypto/keys.ts';
import { type FileMetadata, openDeviceName, openFileMetadata, openLinkName, openRoomName } from '../crypto/metadata.ts';
import { EncryptionError } from '../error.ts';
import { attempt } from '../shapes.ts';

export function withRoomName<T extends { name?: string }>(room: EncryptedRoom, { name, ...rest }: T): T {
  const opened = name === undefined ? undefined : attempt(() => openRoomName(room, name));
  return { ...rest, ...(opened !== undefined && { name: opened }) } as T;
}

/** A reader seals its name with its own id; a device without a name has that of its link. */
export function openDevice(room: EncryptedRoom, { deviceName, ...rest }: RoomDevice): RoomDevice {
  const { deviceId, role } = rest;
  const ownId = role && deviceId.startsWith(linkDevicePrefix) ? deviceId.slice(linkDevicePrefix.length) : deviceId;
  const openName = (envelope: string) =>
    attempt(() => openDeviceName(room, ownId, envelope)) ?? (role && attempt(() => openLinkName(room, role, envelope)));
  const opened = deviceName === undefined ? undefined : openName(deviceName);
  return { ...rest, ...(opened !== undefined && { deviceName: opened }) };
}

/** Opens a list of files. The server may have listed one twice; only the first is returned. */
export const openFiles = (room: EncryptedRoom, files: readonly FileEntry[]): FileEntry[] =>
  createFileList(room).load(files);

/** A salt belongs to one id, and an id to one salt: the server can neither show a file twice nor exchange it. */
export function createFileList(room: EncryptedRoom) {
  let listed = new Map<string, OpenedFile>();

  function open(file: FileEntry): OpenedFile {
    const [known, opened] = [listed.get(file.fileId), openFile(room, file)];
    return known?.salt === undefined || known.salt === opened.salt ? opened : known;
  }

  return {
    /** Replaces the list. Of several files with the same salt, one that was in the list before stays, or else the first. */
    load(files: readonly FileEntry[]): FileEntry[] {
      const ids = new Set<string>();
      const opened = files.filter(({ fileId }) => !ids.has(fileId) && ids.add(fileId)).map(open);
      const isKnown = ({ entry }: OpenedFile) => listed.has(entry.fileId);
      const idsBySalt = new Map<string | undefined, string>();
      for (const { salt, entry } of [...opened.filter(isKnown), ...opened])
        if (!idsBySalt.has(salt)) idsBySalt.set(salt, entry.fileId);
      const shown = opened.filter(({ salt, entry }) => salt === undefined || idsBySalt.get(salt) === entry.fileId);
      listed = new Map(shown.map((file) => [file.entry.fileId, file]));
      return shown.map(({ entry }) => entry);
    },

    /** Undefined for a file that is in the list with another id. */
    add(file: FileEntry): FileEntry | undefined {
      const opened = open(file);
      const { salt, entry } = opened;
      for (const other of listed.values())
        if (salt !== undefined && other.salt === salt && other.entry.fileId !== entry.fileId) return undefined;
      listed.set(entry.fileId, opened);
      return entry;
    },

    remove: (fileId: string): void => void listed.delete(fileId),
  };
}

interface OpenedFile {
  readonly entry: FileEntry;
  /** Undefined if the metadata does not open. */
  readonly salt?: string;
}

/**
 * Keeps `meta`, because a download needs its salt. The name, type and folder that the server sends are never used. In
 * other rooms, the server cleans what people have named.
 */
function openFile(room: EncryptedRoom, { folder: _none, meta = '', ...file }: FileEntry): OpenedFile {
  const metadata = attempt(() => openFileMetadata(room, meta));
  if (!metadata) return { entry: { ...file, meta, fileName: 'encrypted', contentType: 'application/octet-stream' } };
  const { name, type, size, salt } = metadata;
  const folder = cleanFolder(metadata.folder ?? '');
  const names = { fileName: cleanFileName(name), contentType: cleanType(type), ...(folder && { folder }) };
  return { entry: { ...file, meta, ...names, fileSize: size }, salt: encodeBase64url(salt) };
}

/** Throws `DATA_DAMAGED` unless the file has metadata that opens. */
export function metadataOf(room: EncryptedRoom, { meta }: Pick<FileEntry, 'meta'>): FileMetadata {
  if (meta === undefined) throw damaged('The metadata of a file');
  return openFileMetadata(room, meta);
}

/** For a server that answers with plaintext. Fails closed: nothing was sent, and nothing will be. */
export const notEncrypted = (): EncryptionError =>
  new EncryptionError(
    'NOT_ENCRYPTED',
    'You have a room key, but the server says that this room is not encrypted. Nothing was sent. Check the code and the server.',
  );
