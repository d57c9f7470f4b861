/** The limits in the API guide. */
import { maxEdits } from '../../src/protocol/fields.ts';
import { paragraphs, table } from '../markdown.ts';

export function limitsChapter(): string {
  return paragraphs([
    '## Limits',
    '{{limitsNote}}',
    table(['limit', 'value', 'if exceeded'], rows),
    'For programs, `/api/openapi.json` has most of them in `x-limits`.',
  ]);
}

const rows = [
  ['Lifetime of a room', '{{roomLifetime}}', 'the room expires'],
  ['Lifetime that you can request', 'from 60 seconds to {{roomMaxLifetime}}', '`400 VALIDATION_FAILED`'],
  ['Size of a text, in UTF-8', '{{textSize}}', '`413 CONTENT_TOO_LARGE`'],
  ['Edits in one request or message', maxEdits.toLocaleString('en-US'), '`400 VALIDATION_FAILED`'],
  ['Earlier texts of a room', '50 texts, 4 MiB in total', 'the oldest are deleted'],
  ['Size of a file', '{{fileSize}}', '`413 FILE_TOO_LARGE`'],
  ['Files in a room', '{{roomFiles}}, {{roomFileSize}} in total', '`413 ROOM_FULL`'],
  ['Storage per address without an API key', '{{addressStorage}}', '`413 QUOTA_EXCEEDED`'],
  ['Storage per API key', '{{keyStorage}}', '`413 QUOTA_EXCEEDED`'],
  ['Requests in the free tier', '{{freeRequests}}', '`429 RATE_LIMITED`'],
  ['Requests in the pro tier', '{{proRequests}}', '`429 RATE_LIMITED`'],
  ['Unknown codes and wrong PINs', '{{misses}}', '`429 RATE_LIMITED`'],
  ['Wrong PINs for one room', '5 before the first lock', '`429 PIN_LOCKED`'],
  ['Devices in a room', '{{devices}}', '`429 RATE_LIMITED`, close code 4429'],
  ['Live channels per client', '{{channels}}', '`429 RATE_LIMITED`'],
  ['Messages on a live channel', '20 per second, in bursts of 40', 'close code 4429'],
  ['Unread messages on a live channel', '10 seconds or 1 MiB', 'close code 4429'],
];
