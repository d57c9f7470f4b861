/** What a file of a room is called on this disk. The server is not trusted to name a path. */
import { replaceHidden } from '../printable.ts';

const mostBytes = 255;
/** No disk has longer names; a longer one is cut before it is looked at. */
const mostLength = 1000;
const nameless = 'file';

/** One for each, and no two the same: a second "photo.jpg" is "photo (2).jpg". */
export function localNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return names.map((name) => {
    const safe = localName(name);
    let count = counts.get(folded(safe)) ?? 1;
    let unique = count === 1 ? safe : numbered(safe, ` (${count})`);
    while (taken.has(folded(unique))) unique = numbered(safe, ` (${++count})`);
    counts.set(folded(safe), count);
    taken.add(folded(unique));
    return unique;
  });
}

/**
 * Its last part alone, without invisible characters. A name that means something to a system or a shell gets a "_" in
 * front: one that is hidden (`.bashrc`, `.git`), an option (`-rf`), a home (`~`), a device of Windows (`CON`, `nul.txt`).
 */
export function localName(name: string, platform: NodeJS.Platform = process.platform): string {
  const last = shortened(name.split(/[/\\]/).at(-1) ?? '').toWellFormed();
  const visible = withoutEdges(replaceHidden(last, () => ''));
  const allowed = platform === 'win32' ? visible.replaceAll(/[<>:"|?*]/g, '_') : visible;
  if (allowed === '') return nameless;
  return numbered(special.test(allowed) ? `_${allowed}` : allowed, '');
}

const shortened = (name: string) =>
  name.length > mostLength ? name.slice(0, mostLength / 2) + name.slice(-mostLength / 2) : name;

/** Windows ignores dots and spaces at the end, so that two names would be one. */
const withoutEdges = (name: string) => name.replace(leading, '').replace(trailing, '');
const leading = /^(?:\s|\u200C|\u200D|\uFE0E|\uFE0F)+/;
const trailing = /(?:[\s.]|\u200C|\u200D|\uFE0E|\uFE0F)+$/;

/** `desktop.ini` and `autorun.inf` make Windows do something when their folder is opened. */
const special =
  /^(?:[.~-]|(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])\s*(?:[.:]|$)|(?:desktop\.ini|autorun\.inf)$)/i;

/** Some disks do not tell capitals, the two ways to write an umlaut, or invisible characters apart. */
const folded = (name: string) =>
  name
    .replaceAll(/\u200C|\u200D|\uFE0E|\uFE0F/g, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC');

/** The number stands before the ending, and the name gives way where it would be too long for a disk. */
function numbered(name: string, number: string): string {
  const [, stem = name, ending = ''] = /^(.+?)((?:\.tar)?\.[^.\s]{1,16})?$/su.exec(name) ?? [];
  const room = mostBytes - Buffer.byteLength(number + ending);
  const kept = Buffer.byteLength(stem) <= room ? stem : cut(stem, room).replace(trailing, '');
  return kept + number + ending;
}

/** The beginning of a text, in whole characters. */
const cut = (text: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
