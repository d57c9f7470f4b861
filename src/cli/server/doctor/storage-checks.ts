/** Checks the storage of rooms, in the database or Redis, and that of files, in the data folder or a bucket. */
import { existsSync } from 'node:fs';
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { BucketTrouble } from '../../../blobs/inspect.ts';
import type { Config } from '../../../config.ts';
import { guardRules } from '../../../core/limits.ts';
import { findOpenPaths, type OpenPath, writableByOthers } from '../../../engine/data-folder.ts';
import { filesPlaceOf, totalMaxBytes } from '../../../engine/open.ts';
import { secretFiles, secretIn } from '../../../engine/secret.ts';
import type { RedisFacts } from '../../../store/redis/open.ts';
import { type DatabaseFacts, inspectDatabase } from '../../../store/sqlite/open.ts';
import { formatBytes } from '../../output.ts';
import { bad, check, clockFinding, type Finding, forCheck, ok, warnIf, warning } from './check.ts';

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

/** If keys are required, at least one must exist. */
function checkKeys({ requireApiKey, create }: Config, keysInForce: number): Finding[] {
  const isMissing = keysInForce === 0 && (requireApiKey || create === 'key');
  const found = requireApiKey
    ? 'POPROOM_REQUIRE_API_KEY is true, but there is no key: all requests are rejected.'
    : 'POPROOM_CREATE is key, but there is no key: nobody can create rooms.';
  return warnIf(isMissing, found, 'Create a key: poproom keys create NAME');
}

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

const folder = check('files', ['dataDir', 'files'], async ({ dataDir, files }) => {
  const found = await nearestExisting(resolve(dataDir));
  if (!found.isFolder) return [bad(`${found.path} is not a folder.`, 'Set POPROOM_DATA_DIR to a folder.')];
  const exists = found.path === resolve(dataDir);
  const place = filesPlaceOf({ dataDir, files });
  const inside = 'folder' in place ? place.folder : join(dataDir, 'spool');
  for (const path of [found.path, ...(exists ? [inside] : [])]) {
    if (!(await isWritable(path))) return [bad(`${path} is not writable.`, fixFolder)];
  }
  if (!exists) return [ok(`${dataDir} does not exist yet; the server creates it at startup.`)];
  return [ok(`The folder ${dataDir} is writable.`)];
});

const fixFolder = 'Make the user of the server its owner, or set POPROOM_DATA_DIR to another folder.';

/** Returns the folder itself, or the parent in which it would be created. */
async function nearestExisting(path: string): Promise<{ path: string; isFolder: boolean }> {
  try {
    return { path, isFolder: (await stat(path)).isDirectory() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return nearestExisting(dirname(path));
    // Below a file, or in a folder without permission.
    return code === 'ENOTDIR' ? { path, isFolder: false } : { path: dirname(path), isFolder: true };
  }
}

/** A folder that does not exist counts as writable: the server creates it. */
async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

const space = check('disk', ['dataDir', 'files', 'minFreeDisk'], async ({ dataDir, files, minFreeDisk }) => {
  const place = filesPlaceOf({ dataDir, files });
  const { path, isFolder } = await nearestExisting(resolve('folder' in place ? place.folder : dataDir));
  if (!isFolder) return [];
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  const found = `${formatBytes(free)} free on the disk; uploads need ${formatBytes(minFreeDisk)} to stay free`;
  const fix = 'Free up disk space, or set POPROOM_MIN_FREE_DISK to a smaller size.';
  if (free < minFreeDisk) return [bad(`${found}: all uploads are rejected.`, fix)];
  if (free < 2 * minFreeDisk) return [warning(`${found}: uploads will soon be rejected.`, fix)];
  return [ok(`${found}.`)];
});

/** File system types of Linux: NFS, and two of SMB. */
const networkFileSystems = [0x6969, 0xff534d42, 0xfe534d42];

const localDisk = check('disk', ['dataDir', 'store'], async ({ dataDir, store }) => {
  const { path, isFolder } = await nearestExisting(resolve(dataDir));
  if (store !== 'sqlite:' || !isFolder || !networkFileSystems.includes((await statfs(path)).type)) return [];
  const found = 'POPROOM_DATA_DIR is on a network file system, where SQLite can lose data.';
  return [bad(found, 'Set POPROOM_DATA_DIR to a folder on a local disk.')];
});

const modes = check('modes', ['dataDir'], async ({ dataDir }) => {
  const { path, isFolder } = await nearestExisting(resolve(dataDir));
  if (!isFolder || path !== resolve(dataDir)) return [];
  // The secret has its own check.
  const open = findOpenPaths(dataDir).filter((found) => found.path !== resolve(secretIn(dataDir)));
  return open.length > 0 ? open.map(openPathFinding) : [ok(`Only the owner has access to ${dataDir}.`)];
});

function openPathFinding({ path, mode, wanted, reason }: OpenPath): Finding {
  const change = `chmod ${wanted.toString(8)} ${path}`;
  const found = `Other users of this machine have access to ${path} (mode ${mode.toString(8)}).`;
  if (reason === 'not-ours') return warning(found, `As its owner or root, run: ${change}`);
  if (reason === 'shared') return warning(found, `Set POPROOM_DATA_DIR to a separate folder, or run: ${change}`);
  return warning(found, `Run: ${change}, or restart the server, which fixes it.`);
}

const secrets = check('secret', ['dataDir', 'secret', 'tlsKey'], (config) =>
  secretFiles(config).flatMap((path) => {
    const found = writableByOthers(path);
    return found ? [bad(`${found.problem} The server does not start.`, found.fix)] : [];
  }),
);

const secret = check('secret', ['dataDir', 'secret'], async ({ dataDir, secret: given }) => {
  if (given !== undefined || writableByOthers(secretIn(dataDir))) return [];
  const path = secretIn(dataDir);
  const found = await stat(path).catch(() => undefined);
  const isReadable = found !== undefined && (found.mode & 0o077) !== 0;
  return warnIf(isReadable, `Other users of this machine can read ${path}.`, `Run: chmod 600 ${path}`);
});

const bucket = check('files', ['files', 's3Endpoint', 's3PathStyle'], async ({ files, s3Endpoint, s3PathStyle }) => {
  if (files === 'disk:' || 'folder' in files) return [];
  const { inspectBucket } = await import('../../../blobs/inspect.ts');
  const trouble = await inspectBucket({ ...files, endpoint: s3Endpoint, pathStyle: s3PathStyle });
  if (trouble) return [bucketProblem(files.bucket, s3Endpoint, trouble)];
  return [ok(`The bucket ${files.bucket} works: an object was written, read and deleted, in one piece and in parts.`)];
});

function bucketProblem(bucket: string, endpoint: string | undefined, trouble: BucketTrouble): Finding {
  const { step, name, status } = trouble;
  if (step === 'unfinished') {
    const fix = 'Add a lifecycle rule that aborts incomplete uploads; see docs/operations.md.';
    return warning(`The bucket ${bucket} does not list or abort unfinished uploads, so some stay in it.`, fix);
  }
  if (name === 'CredentialsProviderError')
    return bad('There are no credentials for S3.', 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  if (status === undefined) return unreachableStore(endpoint, trouble);
  if (status === 404) {
    const fix = 'Create it, or correct POPROOM_FILES, POPROOM_S3_ENDPOINT or POPROOM_S3_PATH_STYLE.';
    return bad(`The bucket ${bucket} does not exist.`, fix);
  }
  if (status === 403 || status === 401) {
    const fix =
      'Allow the user s3:PutObject, s3:GetObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads.';
    return bad(`Access to the bucket ${bucket} was denied.`, fix);
  }
  if (step === 'parts') {
    const found = `The bucket ${bucket} does not store uploads in parts (${name}): files over 16 MiB cannot be uploaded.`;
    return bad(found, 'Use another store, or leave POPROOM_FILE_MAX at 16MiB or less.');
  }
  const hint = endpoint?.startsWith('http:') && status === 400 ? ' If the store requires TLS, write https://.' : '';
  const fix = `Check POPROOM_S3_ENDPOINT, POPROOM_S3_PATH_STYLE and AWS_REGION.${hint}`;
  return bad(`The bucket ${bucket} responds with ${status} (${name}).`, fix);
}

function unreachableStore(endpoint: string | undefined, { code = '', message }: BucketTrouble): Finding {
  const store = endpoint === undefined ? 'S3' : `The store at ${new URL(endpoint).origin}`;
  const host = /(?:ENOTFOUND|EAI_AGAIN) (\S+)/.exec(message)?.[1];
  if (host) return bad(`There is no host named ${host}.`, fixHost(endpoint, host));
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    const fix = 'Write http:// in POPROOM_S3_ENDPOINT, or use its port for TLS.';
    return bad(`${store} does not use TLS on this port.`, fix);
  }
  if (/CERT|LEAF_SIGNATURE/.test(code)) {
    const fix =
      'Use a name and a certificate that match, or set NODE_EXTRA_CA_CERTS to the file of your own authority.';
    return bad(`The certificate of the store is not accepted: ${message.split(';', 1)[0]}.`, fix);
  }
  const isReset = code === 'ECONNRESET' || code.startsWith('HPE_');
  if (isReset && endpoint?.startsWith('http:')) {
    const fix = 'If it requires TLS, write https:// in POPROOM_S3_ENDPOINT.';
    return bad(`${store} closes the connection without a response.`, fix);
  }
  const fix = 'Start it, or check POPROOM_S3_ENDPOINT and AWS_REGION.';
  return bad(`${store} does not respond: ${message || code}.`, fix);
}

/** The region is part of the host name at AWS, and the bucket may be part of any. */
function fixHost(endpoint: string | undefined, host: string): string {
  if (endpoint === undefined) return 'Check AWS_REGION and the bucket in POPROOM_FILES.';
  if (host === new URL(endpoint).hostname) return 'Check POPROOM_S3_ENDPOINT, and the DNS of this machine.';
  return 'Set POPROOM_S3_PATH_STYLE=true, unless the store has a host name for each bucket.';
}

export const storageChecks = [database, redis, folder, bucket, space, localDisk, modes, secrets, secret];
