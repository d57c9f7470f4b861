/** The invitation to a new room on a terminal: its code, its link and a QR code. */
import type { CreatedRoom } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { formatDuration } from '../duration.ts';
import { readEnvironment } from '../environment.ts';
import { fitWidth } from '../fit-width.ts';
import { type SharedLink, toLanLink } from '../lan-link.ts';
import { printable } from '../printable.ts';

export async function invitation(input: Input, room: CreatedRoom): Promise<string> {
  const columns = process.stdout.columns || 80;
  const { link, note } = await linkFor(input, room.link);
  const { code, key, name, expiresAt, hasPin } = room;
  const left = formatDuration(Date.parse(expiresAt) - Date.now());
  const rows = [
    printable(code),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(name === undefined ? [] : [printable(name)]),
    link,
    `expires in ${left}${hasPin ? ', protected by a PIN' : ''}${key === undefined ? '' : ', encrypted'}`,
  ];
  const notes = note === undefined ? [] : [fitWidth(note, columns - 2)];
  const parts = [rows.join('\n'), ...notes, await qrCode(link, columns - 2)];
  return `\n${parts.map(indented).join('\n\n')}\n`;
}

const linkFor = async (input: Input, link: string): Promise<SharedLink> =>
  input.isSet('no-lan') || !readEnvironment().usesLanLinks ? { link } : toLanLink(link);

/** A QR code whose lines are wrapped cannot be scanned. */
async function qrCode(link: string, columns: number): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  const drawn = renderUnicodeCompact(link, { border: 1 });
  const width = drawn.indexOf('\n');
  if (width <= columns) return drawn;
  return fitWidth(`The QR code needs ${width + 2} columns; widen the terminal, or open the link.`, columns);
}

const indented = (text: string) => text.replaceAll(/^/gm, '  ');
