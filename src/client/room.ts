/** One room, from outside (requests) and from inside (the live channel). */
import type { Confirmation, FileUploaded } from '../protocol/types.ts';
import { type LiveOptions, type LiveRoom, openLive } from './live.ts';
import { type UploadOptions, upload } from './upload.ts';
import type { Wire } from './wire.ts';

export interface RoomAccess {
  code: string;
  pin: string | undefined;
  deviceId: string | undefined;
  deviceName: string | undefined;
}

export interface Room {
  readonly code: string;
  /** Enters the room; see {@link LiveRoom}. */
  live(options?: LiveOptions): LiveRoom;
  upload(file: Blob, options: UploadOptions): Promise<FileUploaded>;
  removeFile(fileId: string): Promise<Confirmation>;
  /** With everything that is in it, for good. */
  delete(): Promise<Confirmation>;
}

export function createRoomHandle(wire: Wire, access: RoomAccess): Room {
  const path = `/api/rooms/${encodeURIComponent(access.code)}`;
  const headers = { 'X-Room-Pin': access.pin };

  return {
    code: access.code,
    live: (options) => openLive(wire, path, access, options),
    upload: (file, options) => upload(wire, `${path}/upload`, file, { ...options, pin: access.pin }),
    removeFile: (fileId) => wire.call<Confirmation>(`${path}/files/${fileId}`, { method: 'DELETE', headers }),
    delete: () => wire.call<Confirmation>(path, { method: 'DELETE', headers }),
  };
}
