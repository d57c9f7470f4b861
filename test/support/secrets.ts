/** Data that was sent to a server and must not be in its log or metrics. */
import assert from 'node:assert/strict';
import type { Answer, Sending } from './api.ts';
import { filesIn } from './sent-files.ts';

export interface Secrets {
  /** Notes PIN, key, text, files with their names and, once it is answered, the room's code of a request. */
  note(path: string, sending: Sending): void;
  noteAnswer(path: string, answer: Answer): void;
  /** Fails if one of them is in what the server wrote, line by line. */
  assertAbsentFrom(written: string, what: string): void;
}

/** Shorter ones are words that anybody says. */
const shortest = 6;
/** Whoever writes a long text down writes down its beginning. */
const enough = 64;
const most = 5000;

export function createSecrets(): Secrets {
  const pins = new Set<string>();
  const others = new Set<string>();

  function add(secret: unknown): void {
    if (typeof secret !== 'string') return;
    const beginning = secret.slice(0, enough);
    if (beginning.trim().length >= shortest && others.size < most) others.add(beginning);
  }

  return {
    note(path, { json, body, pin, headers = {} }) {
      const fields = (json ?? {}) as { pin?: unknown; content?: unknown };
      const query = new URLSearchParams(path.split('?')[1]);
      for (const sent of [pin, fields.pin, query.get('pin')]) if (/^\d{4}$/.test(`${sent}`)) pins.add(`${sent}`);
      add(fields.content);
      for (const { name, beginning } of filesIn(path, headers['content-type'], body)) {
        add(name);
        add(beginning);
      }
      add(query.get('fileName'));
      add(decoded(headers['x-file-name']));
      add(headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, ''));
    },

    noteAnswer(path, answer) {
      if (answer.status === 201 && path === '/api/rooms') add(answer.json.roomId);
    },

    assertAbsentFrom(written, what) {
      const said = written.split('\n').map(saidIn).join('\n');
      for (const secret of others) assert.ok(!said.includes(secret), `${JSON.stringify(secret)} is in ${what}`);
      const numbers = new Set(said.match(/(?<![\w.:-])\d{4}(?![\w.:-])/g));
      for (const pin of pins) assert.ok(!numbers.has(pin), `the PIN ${pin} is in ${what}`);
    },
  };
}

/** What a server tells its figures apart by; nothing where they are switched off, or where it does not answer any more. */
export async function figures(url: string): Promise<string> {
  try {
    // Not on a connection that is kept: a server that stops next would have to see to it.
    const headers = { connection: 'close' };
    const response = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(1000) });
    // Not the names and what explains them: these are written in the source.
    return Array.from((await response.text()).matchAll(/="(.*?)"/g), ([, label]) => label).join('\n');
  } catch {
    return '';
  }
}

function decoded(name: string | undefined): string | undefined {
  try {
    return name && decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** Ids, times and counts, which may have any four digits by chance. */
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

/** The values of a line of the log; of anything else, all of it. */
function saidIn(line: string): string {
  if (!line.startsWith('{')) return line;
  const values: string[] = [];
  JSON.parse(line, (key, value) => {
    if (typeof value !== 'object' && !numberedFields.has(key)) values.push(withoutFrames(String(value)));
    return value;
  });
  return values.join('\n');
}

/** Where in the code an error arose is a matter of names and line numbers. */
const withoutFrames = (text: string) => text.replace(/^\s+at .*$/gm, '');
