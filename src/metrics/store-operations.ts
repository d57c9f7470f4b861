/** The kinds of store operations that the metrics distinguish. */
import type { IdempotencyStore, KeyStore, RateCounter, RoomStore, StorageAccounts } from '../core/ports.ts';

/** `admit` checks access, `count` counts requests and bytes, and `sweep` removes what has expired. */
export const storeOperations = ['admit', 'read', 'write', 'count', 'sweep'] as const;
export type StoreOperation = (typeof storeOperations)[number];

/** The kind of each method of a port. */
export type Operations<Port> = Record<keyof Port, StoreOperation>;

export const roomOperations: Operations<RoomStore> = {
  createRoom: 'write',
  admit: 'admit',
  read: 'admit',
  deleteRoom: 'write',
  readState: 'read',
  notePinAttempt: 'write',
  updateRoom: 'write',
  attachDevice: 'write',
  renewDevices: 'write',
  detachDevice: 'write',
  listDevices: 'read',
  readText: 'read',
  readEdits: 'read',
  appendText: 'write',
  compactText: 'write',
  listHistory: 'read',
  readCheckpoint: 'read',
  clearHistory: 'write',
  addFile: 'write',
  listFiles: 'read',
  findFile: 'read',
  removeFile: 'write',
  restoreFile: 'write',
  claimFile: 'write',
  findClaim: 'read',
  receiveFile: 'write',
  releaseClaim: 'write',
  eraseRemoved: 'sweep',
  eraseRemovedIn: 'sweep',
  startUpload: 'write',
  findUpload: 'read',
  advanceUpload: 'write',
  finishUpload: 'write',
  cancelUpload: 'write',
  expireUploads: 'sweep',
  expireRooms: 'sweep',
  listTrash: 'sweep',
  claimTrash: 'sweep',
  releaseTrash: 'sweep',
  clearTrash: 'sweep',
  knownBlobs: 'sweep',
  countRooms: 'read',
};

export const rateOperations: Operations<RateCounter> = { take: 'count', peek: 'count' };

export const keyOperations: Operations<KeyStore> = { create: 'write', find: 'read', list: 'read', revoke: 'write' };

export const storageOperations: Operations<StorageAccounts> = {
  reserve: 'count',
  extend: 'count',
  release: 'count',
  chargeText: 'count',
  releaseAbandoned: 'sweep',
  usage: 'read',
  usageOf: 'read',
};

export const idempotencyOperations: Operations<IdempotencyStore> = {
  find: 'read',
  begin: 'write',
  renew: 'write',
  end: 'write',
};
