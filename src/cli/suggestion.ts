/** Suggests a command or an option for one that does not exist. */
import { nearestName } from './nearest-name.ts';

/** Words for commands that people know from other programs. */
const synonyms: Readonly<Record<string, string>> = {
  add: 'send',
  cat: 'get',
  cp: 'send',
  create: 'new',
  delete: 'rm',
  download: 'fetch',
  join: 'watch',
  ls: 'recent',
  paste: 'put',
  pull: 'fetch',
  push: 'send',
  read: 'get',
  receive: 'fetch',
  remove: 'rm',
  server: 'serve',
  share: 'send',
  show: 'info',
  start: 'serve',
  status: 'info',
  upload: 'send',
  write: 'put',
};

export function suggestCommand(name: string, known: readonly string[]): string | undefined {
  const synonym = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
  return synonym ?? suggestName(name, known);
}

/** Without the same first letter, two short names are near each other by chance. */
export function suggestName(name: string, known: readonly string[]): string | undefined {
  return nearestName(
    name,
    known.filter((candidate) => candidate[0] === name[0]),
  );
}
