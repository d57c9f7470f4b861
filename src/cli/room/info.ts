/** `poproom info` and `set`: show what is in a room and when it expires, and change it. */
import {
  PoproomError,
  type Room,
  type RoomDetails,
  type RoomInfo,
  type UpdateRoomRequest,
} from '../../client/index.ts';
import { assertOnlyCode, formatColumns, type Input } from '../command.ts';
import { formatExpiry, readDuration, withLifetimeErrors } from '../duration.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { formatBytes, print, printable } from '../output.ts';
import { choosePin, newPinFromEnvironment } from '../prompt.ts';
import { withRoom } from '../server-context.ts';
import { formatSize, pathInRoom } from './room-files.ts';

export async function info(input: Input): Promise<void> {
  assertOnlyCode('info', input);
  await withRoom(input, async (room, memory) => {
    const { text, files, ...details } = await readDetails(room);
    const { role, name, expiresAt } = details;
    memory.learn({ expiresAt, name });
    // A script may write its output to a log, so only people see the key in the link.
    const link = process.stdout.isTTY ? room.link : room.link.replace(/#.*/, '');
    const rows: Rows = [['link', link]];
    if (name !== undefined) rows.unshift(['name', printable(name)]);
    if (role) rows.push(['access', linkRights[role]]);
    else rows.unshift(['room', printable(details.roomId)]);
    rows.push(['time left', timeLeft(details)], ...protection(details));
    if (text && files) rows.push(...contentRows(details, text, files));
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

export async function set(input: Input): Promise<void> {
  assertOnlyCode('set', input);
  const changes = readChanges(input);
  let newPin = input.isSet('new-pin') ? newPinFromEnvironment(readEnvironment()) : undefined;
  await withRoom(input, async (room, memory) => {
    if (input.isSet('new-pin') && newPin === undefined) {
      // Prompts for the current PIN first if it is needed, so that nobody chooses a new one in vain.
      await room.info();
      const difference = 'The two PINs differ; the room was not changed.';
      newPin = await choosePin('New PIN (four digits): ', difference, 'POPROOM_NEW_PIN');
    }
    const update = { ...changes, ...(newPin !== undefined && { pin: newPin }) };
    const details = await withLifetimeErrors(() => room.update(update));
    memory.learn({ expiresAt: details.expiresAt, name: details.name });
    print(input, { ...details, link: room.link }, summarize(details));
  });
}

function readChanges(input: Input): UpdateRoomRequest {
  const [expires, name] = [input.value('expires'), input.value('name')];
  const { isSet } = input;
  if (isSet('new-pin') && isSet('no-pin')) throw new UsageError('Use either --new-pin or --no-pin.');
  if (isSet('extend') && isSet('no-extend')) throw new UsageError('Use either --extend or --no-extend.');
  const flags = ['new-pin', 'no-pin', 'extend', 'no-extend'];
  if (expires === undefined && name === undefined && !flags.some(isSet)) {
    throw new UsageError('What should change? Use --expires, --extend, --no-extend, --name, --new-pin or --no-pin.');
  }
  return {
    ...(expires !== undefined && { expiresIn: readDuration(expires) }),
    ...(isSet('extend') && { extend: true }),
    ...(isSet('no-extend') && { extend: false }),
    ...(name !== undefined && { name }),
    ...(isSet('no-pin') && { pin: null }),
  };
}

function summarize({ roomId, name, expiresAt, hasPin }: RoomInfo): string {
  const title = name === undefined ? printable(roomId) : `${printable(roomId)} (${printable(name)})`;
  return `${title} ${formatExpiry(expiresAt)}${hasPin ? ', protected by a PIN' : ''}`;
}
