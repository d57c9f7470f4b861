/** Where rooms are: the database in the data folder, or Redis. */
import type { Config } from '../../../config.ts';
import { guardRules } from '../../../core/limits.ts';
import type { RedisFacts } from '../../../store/redis/inspect.ts';
import { type DatabaseFacts, inspectDatabase } from '../../../store/sqlite/inspect.ts';
import type { Check, Look } from './check.ts';
import { clockFinding } from './clock.ts';
import { bad, type Finding, ok, warning } from './finding.ts';
import { aboutKeys } from './settings-checks.ts';
import { aboutStorage } from './storage.ts';

const database: Look = async (config) => {
  if (config.store !== 'sqlite:') return [];
  const facts = lookInto(config.dataDir);
  if ('verdict' in facts) return [facts];
  if (facts.damage.length > 0) return [damaged(`is damaged: ${facts.damage[0]?.replaceAll(/\s+/g, ' ')}`)];
  return [
    ok(`The database opens and is whole; rooms in it: ${facts.rooms}.`),
    ...(facts.isCompacted ? [] : [uncompacted]),
    ...aboutKeys(config, facts.keysInForce),
    ...(await aboutStorage(config, facts.storedBytes)),
  ];
};

const uncompacted = warning(
  'The database may still have texts in it that an earlier version deleted.',
  'Make as much room on the disk as poproom.db takes, twice, and restart the server, which erases them.',
);

function lookInto(folder: string): DatabaseFacts | Finding {
  try {
    const facts = inspectDatabase(folder);
    if (facts === undefined) return ok('There is no database yet; the server makes it when it starts.');
    if (facts !== 'unread') return facts;
    const what = 'The database has a log that was never taken in, as in a copy: it was not looked into.';
    return warning(what, 'Start the server once, and stop it.');
  } catch (error) {
    return damaged(`cannot be read: ${(error as Error).message}`);
  }
}

const damaged = (how: string) =>
  bad(`The database poproom.db ${how}.`, 'Stop the server, and restore it from a backup or move it away.');

const redis: Look = async (config) => {
  if (config.store === 'sqlite:') return [];
  const { inspectRedis, whereIsRedis } = await import('../../../store/redis/inspect.ts');
  const where = whereIsRedis(config.store);
  try {
    const facts = await inspectRedis(config.store, guardRules(0));
    const storage = await aboutStorage(config, facts.storedBytes);
    return [...aboutRedis(where, facts), ...aboutKeys(config, facts.keysInForce), ...storage];
  } catch (error) {
    return [refused(where, error as Error)];
  }
};

function refused(where: string, { cause }: Error): Finding {
  const said = cause instanceof Error ? cause.message : '';
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(said)) {
    return bad(`The Redis at ${where} does not let us in.`, 'Look at the user and the password in POPROOM_STORE.');
  }
  return bad(`The Redis at ${where} does not answer.`, 'Start it, or set POPROOM_STORE to where it is.');
}

function aboutRedis(where: string, facts: RedisFacts): Finding[] {
  return [
    aboutVersion(where, facts.version),
    aboutEviction(facts.evictionPolicy),
    aboutLog(facts),
    clockFinding('Redis', facts.clock),
  ];
}

/** 6.2 is what it needs, 7 the oldest that is still tried. */
function aboutVersion(where: string, version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major >= 7) return ok(`The Redis at ${where} answers; its version is ${version}.`);
  const what = `The Redis at ${where} has the version ${version}.`;
  const mend = 'Use Redis 7 or newer, or Valkey.';
  return major === 6 && minor >= 2 ? warning(what, mend) : bad(what, mend);
}

function aboutEviction(policy: string | undefined): Finding {
  if (policy === 'noeviction') return ok('When Redis is full, it refuses writes and forgets nothing (noeviction).');
  const what = `The maxmemory-policy of Redis is ${policy ?? 'not told'}: when it is full, it may forget rooms and keys.`;
  return bad(what, 'Set maxmemory-policy to noeviction.');
}

/** As docs/operations.md says in "What an answer promises". */
function aboutLog({ writesLog, syncsLog }: RedisFacts): Finding {
  if (!writesLog) {
    const what = 'Redis keeps no AOF: when it ends, all rooms since its last snapshot are gone.';
    return warning(what, 'Set appendonly to yes, and appendfsync to always or everysec.');
  }
  if (syncsLog === 'always') return ok('Redis syncs each write (AOF, always): what was answered outlives a power cut.');
  const kept = syncsLog === 'everysec' ? 'the last second or two' : 'some of the last writes';
  return ok(`Redis writes an AOF (appendfsync ${syncsLog ?? 'not told'}): a power cut may cost ${kept}.`);
}

const needs: readonly (keyof Config)[] = ['store', 'dataDir', 'requireApiKey', 'files', 'totalMaxBytes'];

export const storeChecks: readonly Check[] = [
  { name: 'rooms', needs, look: database },
  { name: 'rooms', needs, look: redis },
];
