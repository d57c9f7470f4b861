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
import type { HandlerDeps, Handlers } from './handler.ts';
import { createLink, listLinks, revokeLink } from './links.ts';
import { liveChannel, roomEvents } from './live.ts';
import { asyncapi, getLimits, health, live, metrics, openapi, ready, robots } from './operations.ts';
import { pageHandlers } from './page.ts';
import { createRoom, createToken, deleteRoom, getRoom, updateRoom } from './room.ts';
import { cancelUpload, continueUpload, createUpload, getUpload } from './uploads.ts';
import { createWebhook, deleteWebhook, listWebhooks } from './webhooks.ts';

export function createHandlers(deps: HandlerDeps): Handlers {
  return {
    createRoom: createRoom(deps),
    createToken: createToken(deps),
    getRoom: getRoom(deps),
    updateRoom: updateRoom(deps),
    deleteRoom: deleteRoom(deps),
    createLink: createLink(deps),
    listLinks: listLinks(deps),
    revokeLink: revokeLink(deps),
    writeContent: writeContent(deps),
    readContent: readContent(deps),
    editContent: editContent(deps),
    compactContent: compactContent(deps),
    listHistory: listHistory(deps),
    readHistory: readHistory(deps),
    clearHistory: clearHistory(deps),
    uploadFile: uploadFile(deps),
    putFile: putFile(deps),
    createUpload: createUpload(deps),
    getUpload: getUpload(deps),
    continueUpload: continueUpload(deps),
    cancelUpload: cancelUpload(deps),
    listFiles: listFiles(deps),
    downloadZip: downloadZip(deps),
    issueTicket: issueTicket(deps),
    removeFile: removeFile(deps),
    restoreFile: restoreFile(deps),
    claimFile: claimFile(deps),
    confirmClaim: confirmClaim(deps),
    releaseClaim: releaseClaim(deps),
    roomEvents: roomEvents(deps),
    liveChannel: liveChannel(deps),
    createWebhook: createWebhook(deps),
    listWebhooks: listWebhooks(deps),
    deleteWebhook: deleteWebhook(deps),
    health: health(deps),
    getLimits: getLimits(deps),
    openapi: openapi(deps),
    asyncapi: asyncapi(deps),
    serveFile: serveFile(deps),
    live: live(),
    ready: ready(deps),
    metrics: metrics(deps),
    robots: robots(deps),
    ...adminHandlers(deps.admin),
    ...pageHandlers(deps),
  };
}
