/** What a file of a room is called on this disk. The server is not trusted to name a path. */

const mostBytes = 255;

/** One for each, and no two the same: a second "photo.jpg" is "photo (2).jpg". */
export function localNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const safe = localName(name);
    let unique = safe;
    for (let n = 2; taken.has(folded(unique)); n++) unique = numbered(safe, ` (${n})`);
    taken.add(folded(unique));
    return unique;
  });
}

/** Its last part alone, without what cannot be seen; never one that a program takes for an option or a folder. */
export function localName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const visible = last
    .toWellFormed()
    .replaceAll(/\p{Cc}|\p{Bidi_Control}/gu, '')
    .trim();
  const allowed = process.platform === 'win32' ? visible.replaceAll(/[<>:"|?*]/g, '_').replace(/\.+$/, '') : visible;
  if (/^\.*$/.test(allowed)) return 'file';
  return numbered(allowed.replace(/^-/, '_-'), '');
}

/** Some disks do not tell capitals or the two ways to write an umlaut apart. */
const folded = (name: string) => name.normalize('NFC').toLowerCase();

/** The number stands before the ending, and the name gives way where it would be too long for a disk. */
function numbered(name: string, number: string): string {
  const [, whole = name, ending = ''] = /^(.+?)((?:\.tar)?\.[^.\s]{1,16})?$/su.exec(name) ?? [];
  const letters = [...whole];
  while (Buffer.byteLength(letters.join('') + number + ending) > mostBytes) letters.pop();
  return letters.join('') + number + ending;
}
