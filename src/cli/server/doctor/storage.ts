/** How much of what they may have all files take. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Config } from '../../../config.ts';
import { totalMaxBytes } from '../../../engine/open.ts';
import { inBytes } from '../../byte-count.ts';
import { about, bad, type Finding, ok, warning } from './finding.ts';

type StorageSettings = Pick<Config, 'files' | 'dataDir' | 'totalMaxBytes'>;

const nearlyFull = 0.9;

export async function aboutStorage(config: StorageSettings, stored: number): Promise<Finding[]> {
  // There is no data folder yet where Redis has the rooms and no server ran here.
  if (config.files === 'disk:' && !existsSync(config.dataDir)) return [];
  const maximum = totalMaxBytes(config);
  const findings = [aboutUsage(config, stored, maximum), await aboutDisk(config, maximum)];
  return findings.flatMap((finding) => (finding ? [about('storage', finding)] : []));
}

function aboutUsage({ files }: StorageSettings, stored: number, maximum: number): Finding {
  if (maximum === 0) {
    const said = `Files take ${inBytes(stored)}, and nothing limits their total`;
    if (files !== 'disk:') return ok(`${said} (POPROOM_TOTAL_MAX_BYTES).`);
    return warning(`${said}: they may fill the disk.`, 'Leave POPROOM_TOTAL_MAX_BYTES unset, or set it to a size.');
  }
  const said = `Files take ${inBytes(stored)} of at most ${inBytes(maximum)}`;
  const mend = 'Find large rooms by "poproom rooms list", or set POPROOM_TOTAL_MAX_BYTES to more.';
  if (stored >= maximum) return bad(`${said}: every upload is refused.`, mend);
  if (stored >= nearlyFull * maximum) return warning(`${said}: uploads will soon be refused.`, mend);
  return ok(`${said}.`);
}

async function aboutDisk({ files, dataDir }: StorageSettings, maximum: number): Promise<Finding | undefined> {
  if (files !== 'disk:') return undefined;
  const { blocks, bsize } = await statfs(dataDir);
  if (maximum <= blocks * bsize) return undefined;
  const what = `POPROOM_TOTAL_MAX_BYTES is ${inBytes(maximum)}, and the disk has ${inBytes(blocks * bsize)}.`;
  return warning(what, 'Set it to at most 80 % of the disk, or leave it unset.');
}
