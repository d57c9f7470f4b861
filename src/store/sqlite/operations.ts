/** All changes of the database. Each runs in a transaction of the writer thread. */
import { addReport, answerRequest, putBlock, putReport, removeBlock, removeReports } from './admin.ts';
import { restoreKey, restoreRoom } from './archive.ts';
import { expireRoom } from './cache.ts';
import { chargeText, createKey, replaceSecretRecord, revokeKey, saveCounters } from './clients.ts';
import {
  addFile,
  advanceUpload,
  cancelUpload,
  claimFile,
  clearTrash,
  eraseRemoved,
  eraseRemovedIn,
  expireUploads,
  finishUpload,
  receiveFile,
  releaseClaim,
  removeFile,
  restoreFile,
  startUpload,
} from './files.ts';
import { createLink, noteLinkUse, revokeLink } from './links.ts';
import { createRoom, deleteRoom, expireRooms, notePinAttempt, updateRoom } from './rooms.ts';
import { appendText, clearHistory, compactText } from './text.ts';
import { takeEndedWebhooks, writeWebhooks } from './webhooks.ts';

export const operations = {
  ...{ createRoom, updateRoom, deleteRoom, notePinAttempt, expireRooms, expireRoom },
  ...{ createLink, revokeLink, noteLinkUse },
  ...{ appendText, compactText, clearHistory },
  ...{ addFile, removeFile, restoreFile, claimFile, receiveFile, releaseClaim },
  ...{ eraseRemoved, eraseRemovedIn, clearTrash },
  ...{ startUpload, advanceUpload, finishUpload, cancelUpload, expireUploads, chargeText, saveCounters },
  ...{ createKey, revokeKey, restoreKey, restoreRoom, replaceSecretRecord },
  ...{ writeWebhooks, takeEndedWebhooks },
  ...{ putBlock, removeBlock, putReport, removeReports, addReport, answerRequest },
};
