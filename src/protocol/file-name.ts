/** Names of files and folders, for display only. The server cleans them, or in an encrypted room the client. */

const longestInBytes = 255;
const defaultName = 'file';
export const folderLimits = { levels: 32, bytes: 1024 } as const;

/** Control characters, direction marks and overrides (`photo\u202Egpj.exe` is shown as `photoexe.jpg`), surrogates. */
const removedCharacters = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFD]/gu;

export const cleanFileName = (raw: string): string => cleanSegment(raw.split(/[/\\]/).at(-1) ?? '') || defaultName;

/**
 * The path of a folder with `/` between its names, without leading, trailing, empty and dot segments. Undefined if it is
 * too long or too deep.
 */
export function cleanFolder(raw: string): string | undefined {
  const segments = raw.split(/[/\\]/).map(cleanSegment).filter(Boolean);
  const folder = segments.join('/');
  return segments.length <= folderLimits.levels && byteLength(folder) <= folderLimits.bytes ? folder : undefined;
}

/** Empty if nothing is left. */
function cleanSegment(raw: string): string {
  const name = shorten(removeUnsafeCharacters(raw));
  return name === '.' || name === '..' ? '' : name;
}

/** Also removes surrounding spaces. */
export const removeUnsafeCharacters = (raw: string): string => raw.toWellFormed().replace(removedCharacters, '').trim();

/** Drops parameters, because a charset could change how a browser interprets the file. */
export function cleanType(declared: string): string {
  const bare = declared.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9!#$&^_.+-]{1,63}\/[a-z0-9!#$&^_.+-]{1,63}$/.test(bare) ? bare : 'application/octet-stream';
}

/** Cuts between characters and keeps the extension, because other devices choose a program by it. */
function shorten(name: string): string {
  if (byteLength(name) <= longestInBytes) return name;
  const extension = /\.[\p{L}\p{N}]{1,16}$/u.exec(name)?.[0] ?? '';
  let stem = '';
  let room = longestInBytes - byteLength(extension);
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= byteLength(character);
    if (room < 0) break;
    stem += character;
  }
  return stem + extension;
}

const encoder = new TextEncoder();
const byteLength = (text: string): number => encoder.encode(text).length;
