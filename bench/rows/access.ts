/** Reading with a PIN, an API key or a room key, compared with a plain read of the same server. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { envelopePrefix, minimumSizes, nonceBytes, tagBytes } from '../../src/protocol/sealed.ts';
import { compareRounds, type LoadRounds, type Target } from '../load.ts';
import { median } from '../processes.ts';
import { createRooms, repositoryRoot, type Server, startPoproom } from '../servers.ts';
import { atMost, type Row } from '../table.ts';
import { contentPaths } from './requests.ts';

const rounds = 7;
const rooms = 64;
const pin = '0427';

/** A read that needs a proof of access, and how many times a plain read it may cost. */
const kinds = {
  pin: { work: 'reading a room with a PIN', maxRatio: 1.27, prepare: readingWithPin },
  key: { work: 'reading with an API key', maxRatio: 1.31, prepare: readingWithKey },
  sealed: { work: 'reading an encrypted room', maxRatio: 1.43, prepare: readingSealed },
};

export type AccessKind = keyof typeof kinds;

export async function compareAccess(): Promise<Row[]> {
  const server = await startPoproom({ port: 18_080 });
  try {
    const targets = [await plainReading(server)];
    for (const { prepare } of Object.values(kinds)) targets.push(await prepare(server));
    const [plain, ...others] = compareRounds(targets, rounds) as [LoadRounds, ...LoadRounds[]];
    return Object.values(kinds).map(({ work, maxRatio }, n) => {
      const own = others[n]?.cpu ?? [];
      const ratio = median(own.map((micros, round) => micros / (plain.cpu[round] ?? Number.NaN)));
      return { work, baseline: `plain: ${show(plain.cpu)}`, poproom: show(own), ...atMost(ratio, maxRatio) };
    });
  } finally {
    await server.stop();
  }
}

export const accessTarget = (kind: AccessKind, server: Server): Promise<Target> => kinds[kind].prepare(server);

const show = (micros: number[]) => `${median(micros).toFixed(1)} µs CPU`;

const targetOf = ({ process, port }: Server, paths: string[], headers = {}): Target => ({
  name: '',
  process,
  port,
  paths,
  headers,
});

const plainReading = async (server: Server) => targetOf(server, await contentPaths(server, rooms));

async function readingWithPin(server: Server): Promise<Target> {
  return targetOf(server, await contentPaths(server, rooms, { pin }), { 'X-Room-Pin': pin });
}

async function readingWithKey(server: Server): Promise<Target> {
  const command = [join(repositoryRoot, 'bin/poproom.js'), 'keys', 'create', 'bench', '--tier', 'pro', '--json'];
  const created = execFileSync(process.execPath, command, { env: { ...process.env, ...server.settings } });
  const { key } = JSON.parse(created.toString());
  return targetOf(server, await contentPaths(server, rooms), { Authorization: `Bearer ${key}` });
}

/** Each room has a full text and two later edits. The server cannot tell that they are not really sealed. */
async function readingSealed(server: Server): Promise<Target> {
  const auth = randomBytes(32);
  const verifier = createHash('sha256').update(auth).digest('base64url');
  const encryption = { scheme: 'pop1', salt: randomBytes(16).toString('base64url'), verifier };
  const access = { 'X-Room-Auth': auth.toString('base64url') };
  const paths = (await createRooms(server, rooms, { encryption })).map((room) => `/api/rooms/${room}/content`);
  for (const path of paths) {
    await send('POST', server.url + path, { ...access, 'If-Match': '"0"' }, { content: envelope() });
    for (const baseVersion of [1, 2])
      await send('PATCH', server.url + path, access, { sealed: envelope(), baseVersion });
  }
  return targetOf(server, paths, access);
}

const envelope = () => envelopePrefix + randomBytes(nonceBytes + minimumSizes.text + tagBytes).toString('base64url');

async function send(method: string, url: string, headers: Record<string, string>, body: object): Promise<void> {
  const all = { 'Content-Type': 'application/json', ...headers };
  const response = await fetch(url, { method, headers: all, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`A write failed with status ${response.status}: ${await response.text()}`);
  await response.text();
}
