/** `poproom keys`: makes, lists and revokes API keys, also while the server runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../../config.ts';
import { drawApiKey } from '../../core/api-key.ts';
import type { ApiKey, KeyStore, Tier } from '../../core/ports.ts';
import { openKeys } from '../../engine/open.ts';
import type { Input } from '../command.ts';
import { inJson, print } from '../output.ts';
import { table } from '../table.ts';
import { UsageError } from '../usage-error.ts';

const usage = 'Usage: poproom keys create NAME [--tier pro|free] | list | revoke NAME|ID';

export async function keys(input: Input): Promise<void> {
  const { command, name, tier } = read(input);
  const config = readConfig();
  if (command !== 'create' && config.store === 'sqlite:') mustExist(config.dataDir);
  const store = await openKeys(config);
  try {
    if (command === 'create') await create(input, store, { name, tier, whose: whoseServer(config) });
    else if (command === 'revoke') await revoke(input, store, name);
    else await list(input, store);
  } finally {
    await store.close();
  }
}

const whoseServer = ({ store, dataDir }: Config) =>
  store === 'sqlite:' ? `data is in ${dataDir}` : 'POPROOM_STORE is this one';

function read({ args, value }: Input): { command: string; name: string; tier: Tier } {
  const tier = value('tier') ?? 'pro';
  const [command = '', name, ...rest] = args;
  const needsName = command === 'create' || command === 'revoke';
  if (!(needsName || command === 'list') || rest.length > 0) throw new UsageError(usage);
  if (needsName !== (name !== undefined)) throw new UsageError(needsName ? `Which key? Name it. ${usage}` : usage);
  if (name !== undefined && !/^[\w.@+ -]{1,64}$/.test(name)) {
    throw new UsageError('The name of a key is 1 to 64 letters, digits, spaces or any of . _ - @ +');
  }
  if (tier !== 'free' && tier !== 'pro') throw new UsageError('The tier is free or pro.');
  return { command, name: name ?? '', tier };
}

/** Looking at data must not make a new, empty place for it. */
export function mustExist(dataDir: string): void {
  if (existsSync(join(dataDir, 'poproom.db'))) return;
  throw new UsageError(`There is no Poproom data in ${dataDir}; set POPROOM_DATA_DIR as for the server.`);
}

async function create(input: Input, store: KeyStore, wanted: { name: string; tier: Tier; whose: string }) {
  const { name, tier, whose } = wanted;
  const { text, id, hash } = drawApiKey();
  const key = await store.create({ id, name, tier, hash }, Date.now());
  if (!key) throw new UsageError(`There is a key called "${name}" already; revoke it first, or choose another name.`);
  print(input, { ...entryOf(key), key: text }, text);
  if (input.isSet('json')) return;
  console.error(`This is the only time that the key is shown. It is called "${name}" and is on the ${tier} tier.`);
  console.error(`It holds for the server whose ${whose}.`);
}

async function revoke(input: Input, store: KeyStore, name: string): Promise<void> {
  const key = await store.revoke(name, Date.now());
  if (!key) throw new UsageError(`No key in force is called "${name}".`);
  if (input.isSet('json')) console.log(inJson(entryOf(key)));
  else console.error(`The key "${key.name}" (${key.id}) is revoked.`);
}

async function list(input: Input, store: KeyStore): Promise<void> {
  const all = await store.list();
  if (all.length > 0 || input.isSet('json')) return print(input, all.map(entryOf), tableOf(all));
  console.error('There are no keys yet. Make one with: poproom keys create NAME');
}

/** As the API writes moments. What it is stored as stays here. */
function entryOf({ id, name, tier, createdAt, revokedAt }: ApiKey) {
  const revoked = revokedAt === undefined ? {} : { revokedAt: new Date(revokedAt).toISOString() };
  return { id, name, tier, createdAt: new Date(createdAt).toISOString(), ...revoked };
}

const tableOf = (keys: readonly ApiKey[]) => table([['ID', 'NAME', 'TIER', 'CREATED', 'REVOKED'], ...keys.map(rowOf)]);

function rowOf({ id, name, tier, createdAt, revokedAt }: ApiKey): string[] {
  return [id, name, tier, day(createdAt), revokedAt === undefined ? '' : day(revokedAt)];
}

const day = (moment: number) => new Date(moment).toISOString().slice(0, 10);
