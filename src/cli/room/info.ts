/** `poproom info`: shows what is in a room and when it expires. */
import type { Room, RoomDetails, RoomInfo } from '../../client/index.ts';
import { assertOnlyCode, formatColumns, type Input } from '../command.ts';
import { formatExpiry } from '../duration.ts';
import { formatBytes, print, printable } from '../output.ts';
import { withRoom } from '../server-context.ts';
import { formatSize, pathInRoom } from './room-files.ts';

export async function info(input: Input): Promise<void> {
  assertOnlyCode('info', input);
  await withRoom(input, async (room, memory) => {
    const { text, files, ...details } = await readDetails(room);
    memory.learn({ expiresAt: details.expiresAt, name: details.name });
    // A script may write its output to a log, so only people see the key in the link.
    const link = process.stdout.isTTY ? room.link : room.link.replace(/#.*/, '');
    const rows: [string, string][] = [
      ['room', printable(details.roomId)],
      ...(details.name === undefined ? [] : [['name', printable(details.name)] satisfies [string, string]]),
      ['link', link],
      ['time left', timeLeft(details)],
      details.encrypted ? ['encrypted', 'yes'] : ['PIN', details.hasPin ? 'yes' : 'no'],
      ['devices', printable(String(details.deviceCount))],
      ['text', text.version === 0 ? 'none yet' : `${formatBytes(text.bytes)}, version ${text.version}`],
      ['files', formatUsage(details, files.length)],
      ...files.map((file): [string, string] => ['', `${printable(pathInRoom(file))}  ${formatSize(file)}`]),
    ];
    print(input, { ...details, link, text, files }, formatColumns(rows));
  });
}

function timeLeft({ expiresAt, extend }: RoomInfo): string {
  const left = formatExpiry(expiresAt).replace('expires in ', '');
  return extend ? `${left}, extended with each change` : left;
}

/** Takes one request, or three with an older server. */
async function readDetails(room: Room): Promise<Required<Pick<RoomDetails, 'text' | 'files'>> & RoomInfo> {
  const { text, files, ...details } = await room.details();
  if (text && files) return { ...details, text, files };
  const [{ content, version, timestamp }, listed] = await Promise.all([room.read(), room.files()]);
  return { ...details, text: { bytes: Buffer.byteLength(content), version, timestamp }, files: listed };
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
