/** The limits in the API guide. */
import { maxEdits } from '../../src/protocol/fields.ts';
import { limitTable } from '../../src/protocol/limits.ts';
import { paragraphs, table } from '../markdown.ts';

export function limitsChapter(): string {
  return paragraphs([
    '## Limits',
    '{{limitsNote}}',
    table(['limit', 'value', 'if exceeded'], [...rows(), ...fixed]),
    'Programs find most of them in `GET /api/limits`, and in `x-limits` of `/api/openapi.json`.',
  ]);
}

function rows(): string[][] {
  return limitTable.flatMap(([, { phrase, guide }]) =>
    guide ? [[guide.what, guide.value ?? `{{${phrase}}}`, guide.beyond]] : [],
  );
}

/** Without a setting. */
const fixed = [
  ['Edits in one request or message', maxEdits.toLocaleString('en-US'), '`400 VALIDATION_FAILED`'],
  ['Earlier texts of a room', '50 texts, 4 MiB in total', 'the oldest are deleted'],
  ['Wrong PINs for one room', '5 before the first lock', '`429 PIN_LOCKED`'],
  ['Messages on a live channel', '20 per second, in bursts of 40', 'close code 4429'],
  ['Unread messages on a live channel', '10 seconds or 1 MiB', 'close code 4429'],
];
