/** File names are for display only and never used as a path. */

const longestInBytes = 255;
const defaultName = 'file';

/** Control characters, direction marks and overrides (`photo\u202Egpj.exe` is shown as `photoexe.jpg`), surrogates. */
const removedCharacters = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFD]/gu;

export function cleanFileName(raw: string): string {
  const base = raw.toWellFormed().replace(removedCharacters, '').split(/[/\\]/).at(-1) ?? '';
  const name = shorten(base.trim());
  return name === '' || name === '.' || name === '..' ? defaultName : name;
}

/** Cuts between characters and keeps the extension, because other devices choose a program by it. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= longestInBytes) return name;
  const extension = /\.[\p{L}\p{N}]{1,16}$/u.exec(name)?.[0] ?? '';
  let stem = '';
  let room = longestInBytes - Buffer.byteLength(extension);
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    stem += character;
  }
  return stem + extension;
}
