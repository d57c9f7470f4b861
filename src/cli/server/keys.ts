/** `poproom keys`: creates, lists and revokes API keys, also while the server runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../../config.ts';
import { drawApiKey } from '../../core/clients.ts';
import type { ApiKey, KeyStore } from '../../core/ports/clients.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { openKeys } from '../../engine/open.ts';
import type { Input } from '../command.ts';
import { UsageError } from '../errors.ts';
import { formatJson, print, table } from '../output.ts';

const usage = 'Usage: poproom keys create NAME [--tier pro|free] | list | revoke NAME|ID';

export async function keys(input: Input): Promise<void> {
  const { command, name, tier } = read(input);
  const config = readConfig();
  if (command !== 'create' && config.store === 'sqlite:') assertDataExists(config.dataDir);
  await using opened = new AsyncDisposableStack();
  const store = opened.adopt(await openKeys(config), (store) => store.close());
  if (command === 'create') await create(input, store, { name, tier }, config);
  else if (command === 'revoke') await revoke(input, store, name);
  else await list(input, store);
}

function read({ args, value }: Input) {
  const tier = value('tier') ?? 'pro';
  const [command = '', name, ...rest] = args;
  const needsName = command === 'create' || command === 'revoke';
  if (!(needsName || command === 'list') || rest.length > 0) throw new UsageError(usage);
  if (needsName !== (name !== undefined))
    throw new UsageError(needsName ? `Which key? Give its name. ${usage}` : usage);
  if (name !== undefined && !/^[\w.@+ -]{1,64}$/.test(name)) {
    throw new UsageError('A key name has 1 to 64 letters, digits, spaces or any of . _ - @ +');
  }
  if (tier !== 'free' && tier !== 'pro') throw new UsageError('--tier must be free or pro.');
  return { command, name: name ?? '', tier } as const;
}

/** Opening a missing database would create an empty one. */
export function assertDataExists(dataDir: string): void {
  if (existsSync(join(dataDir, 'poproom.db'))) return;
  throw new UsageError(`There is no Poproom data in ${dataDir}; set POPROOM_DATA_DIR as for the server.`);
}

async function create(input: Input, store: KeyStore, { name, tier }: Pick<ApiKey, 'name' | 'tier'>, config: Config) {
  const { text, id, hash } = drawApiKey();
  const key = await store.create({ id, name, tier, hash }, Date.now());
  if (!key) throw new UsageError(`A key named "${name}" already exists; revoke it first, or choose another name.`);
  print(input, { ...entryOf(key), key: text }, text);
  if (input.isSet('json')) return;
  console.error(`Copy the key now: it is not shown again. Name: "${name}", tier: ${tier}.`);
  const server = config.store === 'sqlite:' ? `data folder ${config.dataDir}` : 'current POPROOM_STORE';
  console.error(`It is valid for the server with the ${server}.`);
}

async function revoke(input: Input, store: KeyStore, name: string): Promise<void> {
  const key = await store.revoke(name, Date.now());
  if (!key) throw new UsageError(`There is no active key named "${name}"; "poproom keys list" shows all keys.`);
  if (input.isSet('json')) console.log(formatJson(entryOf(key)));
  else console.error(`Revoked the key "${key.name}" (${key.id}).`);
}

async function list(input: Input, store: KeyStore): Promise<void> {
  const all = (await store.list()).map(entryOf);
  const rows = all.map(({ id, name, tier, createdAt, revokedAt = '' }) => {
    return [id, name, tier, createdAt.slice(0, 10), revokedAt.slice(0, 10)];
  });
  if (all.length > 0 || input.isSet('json'))
    return print(input, all, table([['ID', 'NAME', 'TIER', 'CREATED', 'REVOKED'], ...rows]));
  console.error('There are no keys yet. Create one with: poproom keys create NAME');
}

/** Leaves out the hash, and formats timestamps as the API does. */
const entryOf = ({ id, name, tier, createdAt, revokedAt }: ApiKey) => ({
  ...{ id, name, tier, createdAt: toTimestamp(createdAt) },
  ...(revokedAt !== undefined && { revokedAt: toTimestamp(revokedAt) }),
});
