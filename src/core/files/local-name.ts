/**
 * Safe names for downloaded files and for zip archives. The command line does not trust the server to name a path. The
 * page uses it too, for archives of encrypted files.
 */

const maxBytes = 255;
/** Longer names are cut before the checks. No file system supports them. */
const maxLength = 1000;
const defaultName = 'file';
/** Servers allow as many. A malicious one could name a path that the system cannot create. */
const maxDepth = 32;
const encoder = new TextEncoder();

/** As Node names it. Only `win32` has other rules. */
type Platform = string;
const thisPlatform: Platform = (globalThis as { process?: { platform: string } }).process?.platform ?? 'win32';

/** The local path of a file, as the names of its folders and its own name. */
export type LocalPath = readonly string[];

/** Unique paths. Files and folders whose names are the same on a case-insensitive disk get numbers. */
export function localPaths(
  files: readonly { folder?: string | undefined; fileName: string }[],
  platform: Platform = thisPlatform,
  namesIn: NamesIn = () => 'safe',
): LocalPath[] {
  /** By their paths in the room. */
  const folders = new Map<string, LocalFolder>();

  function folderAt(segments: readonly string[]): LocalFolder {
    const key = segments.join('/');
    const known = folders.get(key);
    if (known) return known;
    const parent = segments.length > 0 ? folderAt(segments.slice(0, -1)) : undefined;
    const path = parent ? [...parent.path, parent.nameOf(segments.at(-1) ?? '')] : [];
    const folder = { path, nameOf: createNaming(platform, namesIn(path[0] ?? '')) };
    folders.set(key, folder);
    return folder;
  }

  return files.map(({ folder = '', fileName }) => {
    const { path, nameOf } = folderAt(folder.split(/[/\\]/).filter(Boolean).slice(0, maxDepth));
    return [...path, nameOf(fileName)];
  });
}

type LocalFolder = { path: LocalPath; nameOf: (name: string) => string };

/** How names with a meaning for a system or a shell are changed: `safe` adds a prefix to all of them. */
type Naming = 'safe' | 'hidden' | 'kept';

/** The naming below a folder of the target, by its name; that of the target itself is empty. */
export type NamesIn = (topFolder: string) => Naming;

/** For a file that the user named. */
export const pathsWithoutFolders = (files: readonly { fileName: string }[], naming: Naming = 'safe'): LocalPath[] =>
  files
    .map(({ fileName }) => fileName)
    .map(createNaming(thisPlatform, naming))
    .map((name) => [name]);

/** Returns a function that gives each name of a folder a unique local one. */
function createNaming(platform: Platform, naming: Naming = 'safe'): (name: string) => string {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return (name) => {
    const safe = localName(name, platform, naming);
    let count = counts.get(folded(safe)) ?? 1;
    let unique = count === 1 ? safe : numbered(safe, ` (${count})`);
    while (taken.has(folded(unique))) unique = numbered(safe, ` (${++count})`);
    counts.set(folded(safe), count);
    taken.add(folded(unique));
    return unique;
  };
}

/**
 * Keeps only the last path component, without invisible characters. Names with a meaning for a system or a shell get the
 * prefix "_": hidden files (`.bashrc`), options (`-rf`), home folders (`~`) and Windows devices (`CON`, `nul.txt`).
 */
export function localName(name: string, platform: Platform = thisPlatform, naming: Naming = 'safe'): string {
  const last = shortened(name.split(/[/\\]/).at(-1) ?? '').toWellFormed();
  const visible = withoutEdges(replaceHidden(last, () => ''));
  const allowed = platform === 'win32' ? visible.replaceAll(/[<>:"|?*]/g, '_') : visible;
  if (allowed === '') return defaultName;
  return numbered(prefixed[naming].test(allowed) ? `_${allowed}` : allowed, '');
}

const shortened = (name: string) =>
  name.length > maxLength ? name.slice(0, maxLength / 2) + name.slice(-maxLength / 2) : name;

/** Windows ignores trailing dots and spaces, so two names could be the same file. */
const withoutEdges = (name: string) => name.replace(leading, '').replace(trailing, '');
const leading = /^(?:\s|\u200C|\u200D|\uFE0E|\uFE0F)+/;
const trailing = /(?:[\s.]|\u200C|\u200D|\uFE0E|\uFE0F)+$/;

/** Windows acts on `desktop.ini` and `autorun.inf` when their folder is opened. */
const reserved = String.raw`(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])\s*(?:[.:]|$)|(?:desktop\.ini|autorun\.inf)$`;

const prefixed: Readonly<Record<Naming, RegExp>> = {
  safe: new RegExp(`^(?:[.~-]|${reserved})`, 'i'),
  hidden: new RegExp(`^(?:[~-]|${reserved})`, 'i'),
  kept: new RegExp(`^(?:${reserved})`, 'i'),
};

/** Some file systems ignore case, normalization or invisible characters. "ẞ" becomes "ss" only by way of "ß". */
const folded = (name: string) =>
  name
    .replaceAll(/\u200C|\u200D|\uFE0E|\uFE0F/g, '')
    .normalize('NFC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC');

/** Puts the number before the extension, and shortens the name if the result is too long. */
export function numbered(name: string, number: string): string {
  const [, stem = name, ending = ''] = /^(.+?)((?:\.tar)?\.[^.\s]{1,16})?$/su.exec(name) ?? [];
  const available = maxBytes - byteLength(number + ending);
  const kept = byteLength(stem) <= available ? stem : cut(stem, available).replace(trailing, '');
  return kept + number + ending;
}

/** Cuts a text to a number of bytes, between characters. */
const cut = (text: string, bytes: number): string =>
  new TextDecoder().decode(encoder.encode(text).subarray(0, bytes), { stream: true });

const byteLength = (text: string): number => encoder.encode(text).length;

/**
 * Control characters, direction overrides and marks, line separators, and invisible characters. Joiners and variation
 * selectors are kept, because scripts and emoji need them, and so are Arabic number signs, which are visible.
 */
export const hiddenSet = String.raw`[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200C-\u200D\uFE0E-\uFE0F\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]`;
/** The flags of England, Scotland and Wales contain characters that are otherwise invisible. */
export const emojiSet = String.raw`\p{RGI_Emoji_Tag_Sequence}`;

/** Compiled when it is first used, because that takes 3 ms. */
let hiddenInLine: RegExp | undefined;

export function replaceHidden(text: string, replace: (character: string) => string): string {
  hiddenInLine ??= new RegExp(`${emojiSet}|${hiddenSet}`, 'gv');
  return text.replaceAll(hiddenInLine, (found) => (isEmoji(found) ? found : replace(found)));
}

/** Other matches are a single character. */
export const isEmoji = (found: string): boolean => found.length > 2;
