/** File names are kept for people to read and never used as a path. */

const longestInBytes = 255;
const nameless = 'file';

/** Controls, invisible direction marks and overrides (`photo\u202Egpj.exe` reads as `photoexe.jpg`), lone surrogates. */
const unwanted = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFD]/gu;

export function cleanFileName(raw: string): string {
  const base = raw.toWellFormed().replace(unwanted, '').split(/[/\\]/).at(-1) ?? '';
  const name = shorten(base.trim());
  return name === '' || name === '.' || name === '..' ? nameless : name;
}

/** Cuts between characters, not within them, and keeps the extension: it is what the other device opens the file by. */
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
