/** `poproom restore`: makes an earlier text the current one again. */

import type { Input } from '../command.ts';
import { formatBytes } from '../counts.ts';
import { print } from '../output.ts';
import { withRoom } from '../server-context.ts';
import { UsageError } from '../usage-error.ts';
import { readVersion } from '../version-argument.ts';

export async function restore(input: Input): Promise<void> {
  const [, version, ...rest] = input.args;
  if (version === undefined)
    throw new UsageError('Which version? Give a room code and a version from "poproom history".');
  if (rest.length > 0) throw new UsageError('Give one version only.');
  const restored = readVersion(version, 'poproom history');
  const text = await withRoom(input, (room) => room.restore(restored));
  const size = formatBytes(Buffer.byteLength(text.content));
  const result = { restored, version: text.version, timestamp: text.timestamp };
  print(input, result, `Restored version ${restored} (${size}) as version ${text.version}.`);
}
