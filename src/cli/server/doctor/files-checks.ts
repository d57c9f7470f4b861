/** Where files are: the data folder and its disk, and the bucket where there is one. */
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { BucketTrouble } from '../../../blobs/inspect.ts';
import { findOpenPaths, type OpenPath } from '../../../engine/data-folder.ts';
import { secretIn } from '../../../engine/secret.ts';
import { inBytes } from '../../byte-count.ts';
import type { Check, Look } from './check.ts';
import { bad, type Finding, ok, warning } from './finding.ts';

const folder: Look = async ({ dataDir, files }) => {
  const found = await nearestThere(resolve(dataDir));
  if (!found.isFolder) return [bad(`${found.path} is no folder.`, 'Set POPROOM_DATA_DIR to a folder.')];
  const isThere = found.path === resolve(dataDir);
  const inside = join(dataDir, files === 'disk:' ? 'files' : 'spool');
  for (const path of [found.path, ...(isThere ? [inside] : [])]) {
    if (await cannotWrite(path)) return [bad(`${path} cannot be written to.`, mendFolder)];
  }
  if (!isThere) return [ok(`There is no ${dataDir} yet; the server makes it when it starts.`)];
  return [ok(`The folder ${dataDir} can be written to.`)];
};

const mendFolder = 'Give it to the user that runs the server, or set POPROOM_DATA_DIR to another folder.';

/** The folder itself, or what it would be made in. */
async function nearestThere(path: string): Promise<{ path: string; isFolder: boolean }> {
  try {
    return { path, isFolder: (await stat(path)).isDirectory() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return nearestThere(dirname(path));
    // Below a file, or in a folder that is closed to us.
    return code === 'ENOTDIR' ? { path, isFolder: false } : { path: dirname(path), isFolder: true };
  }
}

async function cannotWrite(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

const space: Look = async ({ dataDir, minFreeDisk }) => {
  const { path, isFolder } = await nearestThere(resolve(dataDir));
  if (!isFolder) return [];
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  const said = `${inBytes(free)} are free on the disk, of which uploads leave ${inBytes(minFreeDisk)}`;
  const mend = 'Make room on the disk, or set POPROOM_MIN_FREE_DISK to less.';
  if (free < minFreeDisk) return [bad(`${said}: every upload is refused.`, mend)];
  if (free < 2 * minFreeDisk) return [warning(`${said}: uploads will soon be refused.`, mend)];
  return [ok(`${said}.`)];
};

/** By the numbers of Linux: NFS and the two kinds of SMB. */
const overNetwork = [0x6969, 0xff534d42, 0xfe534d42];

const localDisk: Look = async ({ dataDir, store }) => {
  const { path, isFolder } = await nearestThere(resolve(dataDir));
  if (store !== 'sqlite:' || !isFolder || !overNetwork.includes((await statfs(path)).type)) return [];
  const what = 'POPROOM_DATA_DIR is on a network file system, where SQLite can lose what it wrote.';
  return [bad(what, 'Set POPROOM_DATA_DIR to a folder on a local disk.')];
};

const modes: Look = async ({ dataDir }) => {
  const { path, isFolder } = await nearestThere(resolve(dataDir));
  if (!isFolder || path !== resolve(dataDir)) return [];
  // The secret has a line of its own.
  const open = findOpenPaths(dataDir).filter((found) => found.path !== resolve(secretIn(dataDir)));
  return open.length > 0 ? open.map(aboutOpenPath) : [ok(`Only its owner can open what is in ${dataDir}.`)];
};

function aboutOpenPath({ path, mode, wanted, reason }: OpenPath): Finding {
  const change = `chmod ${wanted.toString(8)} ${path}`;
  const found = `Other users of this machine can open ${path} (mode ${mode.toString(8)}).`;
  if (reason === 'not-ours') return warning(found, `As its owner or as root: ${change}`);
  if (reason === 'shared') return warning(found, `Set POPROOM_DATA_DIR to a folder of its own, or: ${change}`);
  return warning(found, `${change}, or start the server, which does it.`);
}

const secret: Look = async ({ dataDir, secret: given }) => {
  if (given !== undefined) return [];
  const path = secretIn(dataDir);
  const mode = await stat(path).then(
    (found) => found.mode,
    () => 0,
  );
  if ((mode & 0o077) === 0) return [];
  return [warning(`${path} can be read by other users of this machine.`, `chmod 600 ${path}`)];
};

const bucket: Look = async ({ files, s3Endpoint, s3PathStyle }) => {
  if (files === 'disk:') return [];
  const { inspectBucket } = await import('../../../blobs/inspect.ts');
  const trouble = await inspectBucket({ ...files, endpoint: s3Endpoint, pathStyle: s3PathStyle });
  if (trouble) return [aboutTrouble(files.bucket, trouble)];
  return [ok(`The bucket ${files.bucket} takes, gives back and removes an object.`)];
};

function aboutTrouble(bucket: string, { name, status }: BucketTrouble): Finding {
  if (name === 'CredentialsProviderError') {
    return bad('There are no credentials for S3.', 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  }
  if (status === 404) return bad(`There is no bucket ${bucket}.`, 'Make it, or set POPROOM_FILES to the right one.');
  if (status === 403 || status === 401) {
    const mend = 'Allow its user s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket.';
    return bad(`The bucket ${bucket} does not let us in.`, mend);
  }
  const how = status === undefined ? 'does not answer' : `answers with ${status}`;
  return bad(`The bucket ${bucket} ${how} (${name}).`, 'Look at POPROOM_S3_ENDPOINT and AWS_REGION.');
}

export const filesChecks: readonly Check[] = [
  { name: 'files', needs: ['dataDir', 'files'], look: folder },
  { name: 'files', needs: ['files', 's3Endpoint', 's3PathStyle'], look: bucket },
  { name: 'disk', needs: ['dataDir', 'minFreeDisk'], look: space },
  { name: 'disk', needs: ['dataDir', 'store'], look: localDisk },
  { name: 'modes', needs: ['dataDir'], look: modes },
  { name: 'secret', needs: ['dataDir', 'secret'], look: secret },
];
