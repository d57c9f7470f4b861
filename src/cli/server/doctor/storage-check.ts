/** Compares the size of all files with their maximum. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Config } from '../../../config.ts';
import { totalMaxBytes } from '../../../engine/open.ts';
import { formatBytes } from '../../counts.ts';
import { bad, type Finding, forCheck, ok, warning } from './finding.ts';

type StorageSettings = Pick<Config, 'files' | 'dataDir' | 'totalMaxBytes'>;

const nearlyFull = 0.9;

export async function checkStorage(config: StorageSettings, stored: number): Promise<Finding[]> {
  // With rooms in Redis, the data folder is missing until the first start.
  if (isOnDisk(config.files) && !existsSync(diskOf(config))) return [];
  const maximum = totalMaxBytes(config);
  const findings = [usageFinding(config, stored, maximum), await checkMaximum(config, maximum)];
  return findings.flatMap((finding) => (finding ? [forCheck('storage', finding)] : []));
}

const isOnDisk = (files: Config['files']) => files === 'disk:' || 'folder' in files;

/** A folder on the disk of the files. */
const diskOf = ({ files, dataDir }: Pick<Config, 'files' | 'dataDir'>) =>
  files !== 'disk:' && 'folder' in files ? files.folder : dataDir;

function usageFinding({ files }: StorageSettings, stored: number, maximum: number): Finding {
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

async function checkMaximum({ files, dataDir }: StorageSettings, maximum: number): Promise<Finding | undefined> {
  if (!isOnDisk(files)) return undefined;
  const { blocks, bsize } = await statfs(diskOf({ files, dataDir }));
  if (maximum <= blocks * bsize) return undefined;
  const found = `POPROOM_TOTAL_MAX_BYTES is ${formatBytes(maximum)}, but the disk has only ${formatBytes(blocks * bsize)}.`;
  return warning(found, 'Set it to at most 80 % of the disk, or leave it unset.');
}
