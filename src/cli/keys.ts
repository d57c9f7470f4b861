/** `poproom keys`: makes, lists and revokes API keys, also while the server runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { drawApiKey } from '../core/api-key.ts';
import type { ApiKey, KeyStore, Tier } from '../core/ports.ts';
import { openKeys } from '../engine.ts';
import { UsageError } from './usage-error.ts';

const usage = 'Usage: poproom keys create NAME [--tier pro|free] | list | revoke NAME|ID';

export async function keys(args: string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) return console.log(usage);
  const { command, name, tier } = read(args);
  const config = readConfig();
  if (command !== 'create' && config.store === 'sqlite:') mustExist(config.dataDir);
  const store = await openKeys(config);
  try {
    if (command === 'create')
      await create(
        store,
        name,
        tier,
        config.store === 'sqlite:' ? `data is in ${config.dataDir}` : 'POPROOM_STORE is this one',
      );
    else if (command === 'revoke') await revoke(store, name);
    else await list(store);
  } finally {
    await store.close();
  }
}

function read(args: string[]): { command: string; name: string; tier: Tier } {
  const { values, positionals } = parse(args);
  const [command = '', name, ...rest] = positionals;
  const needsName = command === 'create' || command === 'revoke';
  if (!(needsName || command === 'list') || rest.length > 0) throw new UsageError(usage);
  if (needsName !== (name !== undefined)) throw new UsageError(needsName ? `Which key? Name it. ${usage}` : usage);
  if (name !== undefined && !/^[\w.@+ -]{1,64}$/.test(name)) {
    throw new UsageError('The name of a key is 1 to 64 letters, digits, spaces or any of . _ - @ +');
  }
  if (values.tier !== 'free' && values.tier !== 'pro') throw new UsageError('The tier is free or pro.');
  return { command, name: name ?? '', tier: values.tier };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: { tier: { type: 'string', default: 'pro' } }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Looking at keys must not make a new, empty place for them. */
function mustExist(dataDir: string): void {
  if (existsSync(join(dataDir, 'poproom.db'))) return;
  throw new UsageError(`There is no Poproom data in ${dataDir}; set POPROOM_DATA_DIR as for the server.`);
}

async function create(store: KeyStore, name: string, tier: Tier, whose: string): Promise<void> {
  const { text, id, hash } = drawApiKey();
  const key = await store.create({ id, name, tier, hash }, Date.now());
  if (!key) throw new UsageError(`There is a key called "${name}" already; revoke it first, or choose another name.`);
  console.log(text);
  console.error(`This is the only time that the key is shown. It is called "${name}" and is on the ${tier} tier.`);
  console.error(`It holds for the server whose ${whose}.`);
}

async function revoke(store: KeyStore, name: string): Promise<void> {
  const key = await store.revoke(name, Date.now());
  if (!key) throw new UsageError(`No key in force is called "${name}".`);
  console.error(`The key "${key.name}" (${key.id}) is revoked.`);
}

async function list(store: KeyStore): Promise<void> {
  const all = await store.list();
  if (all.length === 0) return console.error('There are no keys yet. Make one with: poproom keys create NAME');
  const rows = [['ID', 'NAME', 'TIER', 'CREATED', 'REVOKED'], ...all.map(rowOf)];
  const widths = [0, 1, 2, 3].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function rowOf({ id, name, tier, createdAt, revokedAt }: ApiKey): string[] {
  return [id, name, tier, day(createdAt), revokedAt === undefined ? '' : day(revokedAt)];
}

const day = (moment: number) => new Date(moment).toISOString().slice(0, 10);
