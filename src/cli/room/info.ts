/** `poproom info`: shows what is in a room and when it expires. */
import { PoproomError, type Room, type RoomDetails, type RoomInfo } from '../../client/index.ts';
import { assertOnlyCode, formatColumns, type Input } from '../command.ts';
import { formatExpiry } from '../duration.ts';
import { formatBytes, print, printable } from '../output.ts';
import { withRoom } from '../server-context.ts';
import { formatSize, pathInRoom } from './room-files.ts';

export async function info(input: Input): Promise<void> {
  assertOnlyCode('info', input);
  await withRoom(input, async (room, memory) => {
    const { text, files, ...details } = await readDetails(room);
    const { role } = details;
    memory.learn({ expiresAt: details.expiresAt, name: details.name });
    // A script may write its output to a log, so only people see the key in the link.
    const link = process.stdout.isTTY ? room.link : room.link.replace(/#.*/, '');
    const rows: [string, string][] = [
      ...(role ? [] : [['room', printable(details.roomId)] satisfies [string, string]]),
      ...(details.name === undefined ? [] : [['name', printable(details.name)] satisfies [string, string]]),
      ['link', link],
      ...(role ? [['access', linkRights[role]] satisfies [string, string]] : []),
      ['time left', timeLeft(details)],
      ...protection(details),
      ...(text && files ? contentRows(details, text, files) : []),
    ];
    print(input, { ...details, link, text, files }, formatColumns(rows));
  });
}

/** In words, for the holder of a link. */
export const linkRights = { read: 'can read the text and the files', drop: 'can add files, and see nothing' } as const;

type Rows = [string, string][];

/** A link needs no PIN, and its holder does not learn whether there is one. */
function protection({ encrypted, hasPin, role }: RoomInfo): Rows {
  if (encrypted) return [['encrypted', 'yes']];
  return role ? [] : [['PIN', hasPin ? 'yes' : 'no']];
}

type Content = Required<Pick<RoomDetails, 'text' | 'files'>>;

function contentRows(details: RoomInfo, text: Content['text'], files: Content['files']): Rows {
  return [
    ['devices', printable(String(details.deviceCount))],
    ['text', text.version === 0 ? 'none yet' : `${formatBytes(text.bytes)}, version ${text.version}`],
    ['files', formatUsage(details, files.length)],
    ...files.map((file): [string, string] => ['', `${printable(pathInRoom(file))}  ${formatSize(file)}`]),
  ];
}

function timeLeft({ expiresAt, extend }: RoomInfo): string {
  const left = formatExpiry(expiresAt).replace('expires in ', '');
  return extend ? `${left}, extended with each change` : left;
}

/** Takes one request, or three with an older server. The holder of a drop link does not see the text and the files. */
async function readDetails(room: Room): Promise<Partial<Content> & RoomInfo> {
  const { text, files, ...details } = (await room.details().catch((error) => {
    if (error instanceof PoproomError && error.code === 'DROP_ONLY') return room.info();
    throw error;
  })) as RoomDetails;
  if (details.role === 'drop') return details;
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
