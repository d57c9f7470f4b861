/** A room whose code for requests is loaded with the first of them. Joining it needs only the live channel. */
import { type FileRoom, PoproomError } from '../../../src/client/light.ts';
import { type FileTransfer, openLive, type RoomAccess, roomPath } from '../../../src/client/light-room.ts';
import { transport } from '../server.ts';

/** The code of the SDK for requests, and that which sends and receives files. */
export const loadRequests = () => import('../../../src/client/room.ts');
export const loadTransfer = () => import('../../../src/client/transfer.ts');

const requests = [
  'update',
  'delete',
  'history',
  'historyText',
  'clearHistory',
  'upload',
  'cancelUpload',
  'download',
  'receive',
  'zipUrl',
  'removeFile',
  'restoreFile',
] as const;

/** The operations of a room that the page uses. */
export type LazyRoom = Pick<FileRoom, 'code' | 'key' | 'pin' | 'live' | (typeof requests)[number]>;

export const lazyTransfer: FileTransfer = {
  upload: async (...values) => (await loadTransfer().catch(failToLoad)).upload(...values),
  receive: async (...values) => (await loadTransfer().catch(failToLoad)).receive(...values),
};

export function openLazyRoom(access: RoomAccess): LazyRoom {
  let room: FileRoom | undefined;
  const request =
    (name: (typeof requests)[number]) =>
    async (...values: unknown[]) => {
      const { createRoomHandle } = await loadRequests().catch(failToLoad);
      room ??= createRoomHandle(transport, access, lazyTransfer);
      return (room[name] as (...values: unknown[]) => unknown)(...values);
    };
  const operations: Partial<LazyRoom> = Object.fromEntries(requests.map((name) => [name, request(name)]));
  return {
    ...(operations as LazyRoom),
    code: access.code,
    key: undefined,
    pin: () => access.pin.current,
    live: (options) => openLive(transport, roomPath(access.code), access, options),
  };
}

/** Offline, or after an update of the server, which no longer has the files of this page. */
function failToLoad(cause: unknown): never {
  throw new PoproomError('OFFLINE', String(cause), { details: { reason: 'code' } });
}
