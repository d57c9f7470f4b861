/** Data that was sent to a server and must not be in its log or metrics. */
import assert from 'node:assert/strict';
import type { ApiResponse, RequestOptions } from './api.ts';
import { filesIn } from './sent-files.ts';

export interface Secrets {
  /** Records the PIN, API key, text, and file names and contents of a request. */
  record(path: string, options: RequestOptions): void;
  /** Records the code of a new room, the id of a new link, and the claim of a one-time file. */
  recordResponse(path: string, response: ApiResponse): void;
  /** Fails if the output of the server contains a secret. `source` names the output. */
  assertAbsentFrom(output: string, source: string): void;
}

/** Shorter values may be in the output by coincidence. */
const minLength = 6;
/** A leaked text would leak its beginning too. */
const maxLength = 64;
const maxSecrets = 5000;

export function createSecrets(): Secrets {
  const pins = new Set<string>();
  const others = new Set<string>();

  function add(secret: unknown): void {
    if (typeof secret !== 'string') return;
    const beginning = secret.slice(0, maxLength);
    if (beginning.trim().length >= minLength && others.size < maxSecrets) others.add(beginning);
  }

  return {
    record(path, { json, body, pin, headers = {} }) {
      const fields = (json ?? {}) as Partial<Record<'pin' | 'content' | 'name' | 'auth', unknown>> & {
        encryption?: { verifier?: unknown };
      };
      const query = new URLSearchParams(path.split('?')[1]);
      for (const sent of [pin, fields.pin, query.get('pin')]) if (/^\d{4}$/.test(`${sent}`)) pins.add(`${sent}`);
      add(fields.content);
      add(fields.name);
      add(fields.auth);
      add(fields.encryption?.verifier);
      add(headers['x-room-auth']);
      add(headers['x-file-meta']);
      for (const { name, beginning } of filesIn(path, headers['content-type'], body)) {
        add(name);
        add(beginning);
      }
      add(query.get('fileName'));
      add(query.get('ticket'));
      add(decoded(headers['x-file-name']));
      add(headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, ''));
    },

    recordResponse(path, response) {
      if (response.status === 200 && path.endsWith('/claim')) add(response.json.claim);
      if (response.status === 201 && path === '/api/rooms') add(response.json.roomId);
      if (response.status === 201 && path.endsWith('/links')) add(response.json.linkId);
    },

    assertAbsentFrom(output, source) {
      const values = output.split('\n').map(loggedValues).join('\n');
      for (const secret of others) assert.ok(!values.includes(secret), `${JSON.stringify(secret)} is in ${source}`);
      const numbers = new Set(values.match(/(?<![\w.:-])\d{4}(?![\w.:-])/g));
      for (const pin of pins) assert.ok(!numbers.has(pin), `the PIN ${pin} is in ${source}`);
    },
  };
}

/** Whether a text has this PIN. Ids, times and ports may contain its digits by coincidence. */
export const holdsPin = (text: string, pin: string): boolean => new RegExp(`(?<![\\w-])${pin}(?![\\w-])`).test(text);

/** The label values in the metrics of a server. Empty if metrics are disabled or the server does not respond. */
export async function metricLabels(url: string): Promise<string> {
  try {
    // Without keep-alive, because a stopping server would have to close the connection.
    const headers = { connection: 'close' };
    const response = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(1000) });
    return labelsIn(await response.text());
  } catch {
    return '';
  }
}

/** Names and help texts are constants in the source, and a number may have the digits of a PIN by coincidence. */
export const labelsIn = (metrics: string): string =>
  Array.from(metrics.matchAll(/="(.*?)"/g), ([, label]) => label).join('\n');

function decoded(name: string | undefined): string | undefined {
  try {
    return name && decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** Ids, times and counts, which may contain the digits of a PIN by coincidence. */
const numberedFields = new Set([
  'requestId',
  'time',
  'ms',
  'port',
  'level',
  'status',
  'rooms',
  'blobs',
  'strays',
  'count',
  'lost',
  'client',
]);

/** The values of a JSON log line. Other lines are returned unchanged, such as the incomplete last one of a kill. */
function loggedValues(line: string): string {
  if (!line.startsWith('{') || !line.endsWith('}')) return line;
  const values: string[] = [];
  JSON.parse(line, (key, value) => {
    if (typeof value !== 'object' && !numberedFields.has(key)) values.push(withoutFrames(String(value)));
    return value;
  });
  return values.join('\n');
}

/** Stack frames contain names and line numbers, which may look like a secret. */
const withoutFrames = (text: string) => text.replace(/^\s+at .*$/gm, '');
