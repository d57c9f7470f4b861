/** Opens names and file metadata. Those that do not open are unknown, so that one cannot hide all others. */
import { cleanFileName, cleanFolder, cleanType } from '../../protocol/file-name.ts';
import type { FileEntry, RoomDevice } from '../../protocol/types.ts';
import { damaged } from '../crypto/errors.ts';
import {
  type EncryptedRoom,
  type FileMetadata,
  openDeviceName,
  openFileMetadata,
  openRoomName,
} from '../crypto/index.ts';

export function withRoomName<T extends { name?: string }>(room: EncryptedRoom, { name, ...rest }: T): T {
  const opened = name === undefined ? undefined : attempt(() => openRoomName(room, name));
  return { ...rest, ...(opened !== undefined && { name: opened }) } as T;
}

export function openDevice(room: EncryptedRoom, { deviceId, deviceName }: RoomDevice): RoomDevice {
  const opened = deviceName === undefined ? undefined : attempt(() => openDeviceName(room, deviceId, deviceName));
  return { deviceId, ...(opened !== undefined && { deviceName: opened }) };
}

/**
 * Keeps `meta`, because a download needs its salt. A file whose metadata does not open keeps its neutral name. In other
 * rooms, the server cleans what people have named.
 */
export function openFile(room: EncryptedRoom, file: FileEntry): FileEntry {
  const metadata = attempt(() => metadataOf(room, file));
  if (!metadata) return file;
  const { name, type, size } = metadata;
  const { folder: _none, ...rest } = file;
  const folder = cleanFolder(metadata.folder ?? '');
  const names = { fileName: cleanFileName(name), contentType: cleanType(type), ...(folder && { folder }) };
  return { ...rest, ...names, fileSize: size };
}

/** Throws `DATA_DAMAGED` unless the file has metadata that opens. */
export function metadataOf(room: EncryptedRoom, { meta }: Pick<FileEntry, 'meta'>): FileMetadata {
  if (meta === undefined) throw damaged('The metadata of a file');
  return openFileMetadata(room, meta);
}

function attempt<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
