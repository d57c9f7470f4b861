/** Checks the storage of files: the data folder and its disk, or the bucket. */
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { BucketTrouble } from '../../../blobs/inspect.ts';
import { findOpenPaths, type OpenPath } from '../../../engine/data-folder.ts';
import { filesPlaceOf } from '../../../engine/open.ts';
import { secretIn } from '../../../engine/secret.ts';
import { formatBytes } from '../../counts.ts';
import type { Check, RunCheck } from './check.ts';
import { bad, type Finding, ok, warning } from './finding.ts';

const folder: RunCheck = async ({ dataDir, files }) => {
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
};

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

const space: RunCheck = async ({ dataDir, files, minFreeDisk }) => {
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
};

/** File system types of Linux: NFS, and two of SMB. */
const networkFileSystems = [0x6969, 0xff534d42, 0xfe534d42];

const localDisk: RunCheck = async ({ dataDir, store }) => {
  const { path, isFolder } = await nearestExisting(resolve(dataDir));
  if (store !== 'sqlite:' || !isFolder || !networkFileSystems.includes((await statfs(path)).type)) return [];
  const found = 'POPROOM_DATA_DIR is on a network file system, where SQLite can lose data.';
  return [bad(found, 'Set POPROOM_DATA_DIR to a folder on a local disk.')];
};

const modes: RunCheck = async ({ dataDir }) => {
  const { path, isFolder } = await nearestExisting(resolve(dataDir));
  if (!isFolder || path !== resolve(dataDir)) return [];
  // The secret has its own check.
  const open = findOpenPaths(dataDir).filter((found) => found.path !== resolve(secretIn(dataDir)));
  return open.length > 0 ? open.map(openPathFinding) : [ok(`Only the owner has access to ${dataDir}.`)];
};

function openPathFinding({ path, mode, wanted, reason }: OpenPath): Finding {
  const change = `chmod ${wanted.toString(8)} ${path}`;
  const found = `Other users of this machine have access to ${path} (mode ${mode.toString(8)}).`;
  if (reason === 'not-ours') return warning(found, `As its owner or root, run: ${change}`);
  if (reason === 'shared') return warning(found, `Set POPROOM_DATA_DIR to a separate folder, or run: ${change}`);
  return warning(found, `Run: ${change}, or restart the server, which fixes it.`);
}

const secret: RunCheck = async ({ dataDir, secret: given }) => {
  if (given !== undefined) return [];
  const path = secretIn(dataDir);
  const mode = await stat(path).then(
    (found) => found.mode,
    () => 0,
  );
  if ((mode & 0o077) === 0) return [];
  return [warning(`Other users of this machine can read ${path}.`, `Run: chmod 600 ${path}`)];
};

const bucket: RunCheck = async ({ files, s3Endpoint, s3PathStyle }) => {
  if (files === 'disk:' || 'folder' in files) return [];
  const { inspectBucket } = await import('../../../blobs/inspect.ts');
  const trouble = await inspectBucket({ ...files, endpoint: s3Endpoint, pathStyle: s3PathStyle });
  if (trouble) return [bucketProblem(files.bucket, trouble)];
  return [ok(`The bucket ${files.bucket} works: an object was written, read and deleted.`)];
};

function bucketProblem(bucket: string, { name, status }: BucketTrouble): Finding {
  if (name === 'CredentialsProviderError') {
    return bad('There are no credentials for S3.', 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  }
  if (status === 404) return bad(`The bucket ${bucket} does not exist.`, 'Create it, or correct POPROOM_FILES.');
  if (status === 403 || status === 401) {
    const fix = 'Allow the user s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket.';
    return bad(`Access to the bucket ${bucket} was denied.`, fix);
  }
  const how = status === undefined ? 'does not respond' : `responds with ${status}`;
  return bad(`The bucket ${bucket} ${how} (${name}).`, 'Check POPROOM_S3_ENDPOINT and AWS_REGION.');
}

export const filesChecks: readonly Check[] = [
  { name: 'files', needs: ['dataDir', 'files'], run: folder },
  { name: 'files', needs: ['files', 's3Endpoint', 's3PathStyle'], run: bucket },
  { name: 'disk', needs: ['dataDir', 'files', 'minFreeDisk'], run: space },
  { name: 'disk', needs: ['dataDir', 'store'], run: localDisk },
  { name: 'modes', needs: ['dataDir'], run: modes },
  { name: 'secret', needs: ['dataDir', 'secret'], run: secret },
];
