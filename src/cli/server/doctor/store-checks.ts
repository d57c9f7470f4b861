/** Checks the storage of rooms: the database in the data folder, or Redis. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Config } from '../../../config.ts';
import { guardRules } from '../../../core/limits.ts';
import { totalMaxBytes } from '../../../engine/open.ts';
import type { RedisFacts } from '../../../store/redis/open.ts';
import { type DatabaseFacts, inspectDatabase } from '../../../store/sqlite/open.ts';
import { formatBytes } from '../../output.ts';
import { bad, check, clockFinding, type Finding, forCheck, ok, warnIf, warning } from './check.ts';
import { checkKeys } from './settings-checks.ts';

const needs = ['store', 'dataDir', 'requireApiKey', 'create', 'files', 'totalMaxBytes', 'allowEviction'] as const;

const database = check('rooms', needs, async (config) => {
  if (config.store !== 'sqlite:') return [];
  const facts = inspect(config.dataDir);
  if ('verdict' in facts) return [facts];
  if (facts.damage.length > 0) return [damaged(`is damaged: ${facts.damage[0]?.replaceAll(/\s+/g, ' ')}`)];
  return [
    ok(`The database is intact; rooms in it: ${facts.rooms}.`),
    ...(facts.isCompacted ? [] : [uncompacted]),
    ...checkKeys(config, facts.keysInForce),
    ...(await checkStorage(config, facts.storedBytes)),
  ];
});

const uncompacted = warning(
  'The database may still contain texts that an earlier version deleted.',
  'Free up twice the size of poproom.db on the disk, and restart the server, which erases them.',
);

function inspect(folder: string): DatabaseFacts | Finding {
  try {
    const facts = inspectDatabase(folder);
    if (facts === undefined) return ok('There is no database yet; the server creates it at startup.');
    if (facts !== 'unread') return facts;
    const found = 'The database has a write-ahead log that was not applied, as in a copy, and was not checked.';
    return warning(found, 'Start and stop the server once.');
  } catch (error) {
    return damaged(`cannot be read: ${(error as Error).message}`);
  }
}

const damaged = (how: string) =>
  bad(`The database poproom.db ${how}.`, 'Stop the server, and restore the database from a backup or move it away.');

const redis = check('rooms', needs, async (config) => {
  if (config.store === 'sqlite:') return [];
  const { inspectRedis, whereIsRedis } = await import('../../../store/redis/open.ts');
  const where = whereIsRedis(config.store);
  try {
    const readFacts = () => inspectRedis(config.store, guardRules(0));
    const facts = await readFacts().catch((error: Error) => (isTimeout(error) ? readFacts() : Promise.reject(error)));
    return [
      versionFinding(where, facts.version),
      ...formatFindings(facts.format),
      evictionFinding(facts.evictionPolicy, config.allowEviction),
      persistenceFinding(facts),
      clockFinding('Redis', facts.clock),
      ...checkKeys(config, facts.keysInForce),
      ...(await checkStorage(config, facts.storedBytes)),
    ];
  } catch (error) {
    return [connectionProblem(where, error as Error)];
  }
});

/** A single one is not a problem to report: Redis or this machine may be busy. */
const isTimeout = ({ cause }: Error) => cause === undefined || /timeout|no connection/i.test(String(cause));

function connectionProblem(where: string, { cause }: Error): Finding {
  const { name = '', message = '' } = cause instanceof Error ? cause : {};
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(message))
    return bad(`Redis at ${where} denied access.`, 'Check the user and the password in POPROOM_STORE.');
  if (name === 'UnusableRedis')
    return bad(`Redis at ${where} cannot be used: ${message}.`, 'Correct POPROOM_STORE, or fix Redis.');
  return bad(`Redis at ${where} does not respond.`, 'Start it, or correct POPROOM_STORE.');
}

/** 6.2 is required; 7 is the oldest version that is tested. */
function versionFinding(where: string, version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major >= 7) return ok(`Redis at ${where} responds; its version is ${version}.`);
  const found = `Redis at ${where} has the version ${version}.`;
  const fix = 'Use Redis 7 or later, or Valkey.';
  return major === 6 && minor >= 2 ? warning(found, fix) : bad(found, fix);
}

function formatFindings({ stored, own }: RedisFacts['format']): Finding[] {
  if (stored === undefined || stored === own) return [];
  const found = `The data in Redis has the format ${stored}, and this version of Poproom uses ${own}.`;
  return [bad(`${found} The server may not start.`, 'Install the same version on all servers.')];
}

function evictionFinding(policy: string | undefined, isAllowed: boolean): Finding {
  if (policy === 'noeviction')
    return ok('When its memory is full, Redis rejects writes and evicts nothing (noeviction).');
  const fix = 'Set maxmemory-policy to noeviction.';
  if (policy === undefined)
    return warning('Redis does not reveal its maxmemory-policy. With any but noeviction, it may evict rooms.', fix);
  const found = `The maxmemory-policy of Redis is ${policy}: when its memory is full, it evicts rooms and keys.`;
  return isAllowed ? warning(found, fix) : bad(`${found} The server does not start.`, fix);
}

/** See "Durability" in docs/operations.md. */
function persistenceFinding({ writesLog, syncsLog }: RedisFacts): Finding {
  if (!writesLog) {
    const found = 'Redis has no AOF: if it stops, all changes since its last snapshot are lost.';
    return warning(found, 'Set appendonly to yes, and appendfsync to always or everysec.');
  }
  if (syncsLog === 'always')
    return ok('Redis syncs each write (AOF, always): acknowledged data survives a power failure.');
  const lost = syncsLog === 'everysec' ? 'the last second or two' : 'some of the last writes';
  return ok(`Redis writes an AOF (appendfsync ${syncsLog ?? 'unknown'}): a power failure may lose ${lost}.`);
}

export const storeChecks = [database, redis];

const nearlyFull = 0.9;

/** Compares the size of all files with their maximum. */
async function checkStorage(config: Config, stored: number): Promise<Finding[]> {
  // With rooms in Redis, the data folder is missing until the first start.
  if (isOnDisk(config.files) && !existsSync(diskOf(config))) return [];
  const maximum = totalMaxBytes(config);
  const findings = [usageFinding(config, stored, maximum), ...(await checkMaximum(config, maximum))];
  return findings.map((finding) => forCheck('storage', finding));
}

const isOnDisk = (files: Config['files']) => files === 'disk:' || 'folder' in files;

/** A folder on the disk of the files. */
const diskOf = ({ files, dataDir }: Config) => (files !== 'disk:' && 'folder' in files ? files.folder : dataDir);

function usageFinding({ files }: Config, stored: number, maximum: number): Finding {
  if (maximum === 0) {
    const found = `Files use ${formatBytes(stored)}, and their total is not limited`;
    if (!isOnDisk(files)) return ok(`${found} (POPROOM_TOTAL_MAX_BYTES).`);
    return warning(`${found}: they may fill the disk.`, 'Leave POPROOM_TOTAL_MAX_BYTES unset, or set it to a size.');
  }
  const found = `Files use ${formatBytes(stored)} of at most ${formatBytes(maximum)}`;
  const fix = 'Find large rooms with "poproom rooms list", or increase POPROOM_TOTAL_MAX_BYTES.';
  if (stored >= maximum) return bad(`${found}: all uploads are rejected.`, fix);
  if (stored >= nearlyFull * maximum) return warning(`${found}: uploads will soon be rejected.`, fix);
  return ok(`${found}.`);
}

async function checkMaximum(config: Config, maximum: number): Promise<Finding[]> {
  if (!isOnDisk(config.files)) return [];
  const { blocks, bsize } = await statfs(diskOf(config));
  const found = `POPROOM_TOTAL_MAX_BYTES is ${formatBytes(maximum)}, but the disk has only ${formatBytes(blocks * bsize)}.`;
  return warnIf(maximum > blocks * bsize, found, 'Set it to at most 80 % of the disk, or leave it unset.');
}
