/** The handler of each endpoint. */

import { adminHandlers } from './admin.ts';
import {
  clearHistory,
  compactContent,
  editContent,
  listHistory,
  readContent,
  readHistory,
  writeContent,
} from './content.ts';
import { downloadZip, issueTicket, serveFile } from './downloads.ts';
import {
  claimFile,
  confirmClaim,
  listFiles,
  putFile,
  releaseClaim,
  removeFile,
  restoreFile,
  uploadFile,
} from './files.ts';
import type { Handlers, Service } from './handler.ts';
import { liveChannel, roomEvents } from './live.ts';
import { asyncapi, getLimits, health, live, metrics, openapi, ready } from './operations.ts';
import { pageHandlers } from './page.ts';
import { createRoom, deleteRoom, getRoom, updateRoom } from './room.ts';
import { cancelUpload, continueUpload, createUpload, getUpload } from './uploads.ts';

export function createHandlers(service: Service): Handlers {
  return {
    createRoom: createRoom(service),
    getRoom: getRoom(service),
    updateRoom: updateRoom(service),
    deleteRoom: deleteRoom(service),
    writeContent: writeContent(service),
    readContent: readContent(service),
    editContent: editContent(service),
    compactContent: compactContent(service),
    listHistory: listHistory(service),
    readHistory: readHistory(service),
    clearHistory: clearHistory(service),
    uploadFile: uploadFile(service),
    putFile: putFile(service),
    createUpload: createUpload(service),
    getUpload: getUpload(service),
    continueUpload: continueUpload(service),
    cancelUpload: cancelUpload(service),
    listFiles: listFiles(service),
    downloadZip: downloadZip(service),
    issueTicket: issueTicket(service),
    removeFile: removeFile(service),
    restoreFile: restoreFile(service),
    claimFile: claimFile(service),
    confirmClaim: confirmClaim(service),
    releaseClaim: releaseClaim(service),
    roomEvents: roomEvents(service),
    liveChannel: liveChannel(service),
    health: health(service),
    getLimits: getLimits(service),
    openapi: openapi(service),
    asyncapi: asyncapi(service),
    serveFile: serveFile(service),
    live: live(),
    ready: ready(service),
    metrics: metrics(service),
    ...adminHandlers(service.admin),
    ...pageHandlers(service),
  };
}
