/** `poproom info`: tells what is in a room and how long it lives. */
import { takesOnlyCode } from '../arguments.ts';
import { inBytes } from '../byte-count.ts';
import { type Input, inColumns } from '../command.ts';
import { sayDuration } from '../duration.ts';
import { print } from '../output.ts';
import { printable } from '../printable.ts';
import { inRoom } from '../server-context.ts';

export async function info(input: Input): Promise<void> {
  takesOnlyCode('info', input);
  await inRoom(input, async (room) => {
    const about = await room.info();
    const [text, files] = await Promise.all([room.read(), room.files()]);
    const bytes = Buffer.byteLength(text.content);
    const rows: [string, string][] = [
      ['room', printable(about.roomId)],
      ['link', room.link],
      ['time left', sayDuration(Date.parse(about.expiresAt) - Date.now())],
      ['PIN', about.hasPin ? 'yes' : 'no'],
      ['devices', printable(String(about.deviceCount))],
      ['text', text.version === 0 ? 'none yet' : `${inBytes(bytes)}, version ${text.version}`],
      ['files', files.length === 0 ? 'none' : String(files.length)],
      ...files.map(({ fileName, fileSize }): [string, string] => ['', `${printable(fileName)}  ${inBytes(fileSize)}`]),
    ];
    const { version, timestamp } = text;
    print(input, { ...about, link: room.link, text: { bytes, version, timestamp }, files }, inColumns(rows));
  });
}
