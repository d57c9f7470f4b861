/** `poproom info`: shows what is in a room and when it expires. */
import type { RoomInfo } from '../../client/index.ts';
import { assertOnlyCode } from '../arguments.ts';
import { formatColumns, type Input } from '../command.ts';
import { formatBytes } from '../counts.ts';
import { formatDuration } from '../duration.ts';
import { print } from '../output.ts';
import { printable } from '../printable.ts';
import { withRoom } from '../server-context.ts';
import { formatSize, pathInRoom } from './find-file.ts';

export async function info(input: Input): Promise<void> {
  assertOnlyCode('info', input);
  await withRoom(input, async (room, memory) => {
    const details = await room.info();
    memory.learn({ expiresAt: details.expiresAt, name: details.name });
    const [text, files] = await Promise.all([room.read(), room.files()]);
    const bytes = Buffer.byteLength(text.content);
    const rows: [string, string][] = [
      ['room', printable(details.roomId)],
      ...(details.name === undefined ? [] : [['name', printable(details.name)] satisfies [string, string]]),
      ['link', room.link],
      ['time left', formatDuration(Date.parse(details.expiresAt) - Date.now())],
      ['PIN', details.hasPin ? 'yes' : 'no'],
      ['devices', printable(String(details.deviceCount))],
      ['text', text.version === 0 ? 'none yet' : `${formatBytes(bytes)}, version ${text.version}`],
      ['files', formatUsage(details, files.length)],
      ...files.map((file): [string, string] => ['', `${printable(pathInRoom(file))}  ${formatSize(file)}`]),
    ];
    const { version, timestamp } = text;
    print(input, { ...details, link: room.link, text: { bytes, version, timestamp }, files }, formatColumns(rows));
  });
}

/** Such as "3 of 100, 1.2 MiB of 100 MiB, up to 10 MiB each". An older server does not state its limits. */
function formatUsage({ limits, fileCount, fileBytes }: Partial<RoomInfo>, listed: number): string {
  if (!limits) return listed === 0 ? 'none' : String(listed);
  return [
    `${fileCount ?? listed} of ${limits.filesPerRoom}`,
    `${formatBytes(fileBytes ?? 0)} of ${formatBytes(limits.fileBytesPerRoom)}`,
    `up to ${formatBytes(limits.fileBytes)} each`,
  ].join(', ');
}
