/** `poproom info`: shows what is in a room and when it expires. */
import { assertOnlyCode } from '../arguments.ts';
import { formatColumns, type Input } from '../command.ts';
import { formatBytes } from '../counts.ts';
import { formatDuration } from '../duration.ts';
import { print } from '../output.ts';
import { printable } from '../printable.ts';
import { withRoom } from '../server-context.ts';

export async function info(input: Input): Promise<void> {
  assertOnlyCode('info', input);
  await withRoom(input, async (room) => {
    const details = await room.info();
    const [text, files] = await Promise.all([room.read(), room.files()]);
    const bytes = Buffer.byteLength(text.content);
    const rows: [string, string][] = [
      ['room', printable(details.roomId)],
      ['link', room.link],
      ['time left', formatDuration(Date.parse(details.expiresAt) - Date.now())],
      ['PIN', details.hasPin ? 'yes' : 'no'],
      ['devices', printable(String(details.deviceCount))],
      ['text', text.version === 0 ? 'none yet' : `${formatBytes(bytes)}, version ${text.version}`],
      ['files', files.length === 0 ? 'none' : String(files.length)],
      ...files.map(({ fileName, fileSize }): [string, string] => [
        '',
        `${printable(fileName)}  ${formatBytes(fileSize)}`,
      ]),
    ];
    const { version, timestamp } = text;
    print(input, { ...details, link: room.link, text: { bytes, version, timestamp }, files }, formatColumns(rows));
  });
}
