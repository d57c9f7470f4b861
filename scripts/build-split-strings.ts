/**
 * Splits the English strings by the chunks that show them, so that a view does not load the strings of others. A module
 * mentions every string by its quoted name, which test/page/strings checks.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { moreStrings, views } from './build-page-chunks.ts';

type Strings = Record<string, unknown>;
/** `parts` are loaded on demand. */
type Owner = 'page' | 'home' | 'room' | 'parts';

const virtual = { home: '\0virtual:home-strings', room: '\0virtual:room-strings', parts: moreStrings };

/** For Vite. `source` is the folder of the page. */
export function splitStrings(source: string) {
  const english = join(source, 'i18n/languages/en.ts');
  const ownerOf = ownersIn(source);
  const modules = globSync('**/*.{ts,tsx}', { cwd: source, exclude: ['i18n/languages/*', 'docs/*'] }).map((path) => ({
    owner: ownerOf(join(source, path)),
    code: readFileSync(join(source, path), 'utf8'),
  }));
  const stringsOf: Record<Owner, Strings> = { page: {}, home: {}, room: {}, parts: {} };

  return {
    name: 'split-strings',
    apply: 'build' as const,
    enforce: 'pre' as const,
    async buildStart() {
      const { strings } = (await import(english)) as { strings: Strings };
      for (const [name, string] of Object.entries(strings)) {
        const users = new Set(modules.filter(({ code }) => code.includes(`'${name}'`)).map(({ owner }) => owner));
        const [only] = users;
        stringsOf[only && users.size === 1 ? only : 'page'][name] = string;
      }
    },
    resolveId: (id: string) => (Object.values(virtual).includes(id) ? id : null),
    load(id: string) {
      if (id === english) return `export const strings = ${JSON.stringify(stringsOf.page)};`;
      const owner = (['home', 'room', 'parts'] as const).find((owner) => virtual[owner] === id);
      if (!owner) return null;
      const added = JSON.stringify(stringsOf[owner]);
      return `import { strings } from ${JSON.stringify(english)};\nObject.assign(strings, ${added});`;
    },
    transform(code: string, id: string) {
      const owner = id.startsWith(source) && !id.includes('/languages/') ? ownerOf(id) : 'page';
      if (owner === 'page' || !Object.keys(stringsOf[owner]).some((name) => code.includes(`'${name}'`))) return null;
      return { code: `import ${JSON.stringify(virtual[owner])};${code}`, map: null };
    },
  };
}

/** Returns the part of the page that a module belongs to. */
function ownersIn(source: string): (path: string) => Owner {
  const [page, home, room] = [views.page, views.home, views.room].map((path) => importsOf(join(source, path)));
  return (path) => {
    if (page?.has(path) || (home?.has(path) && room?.has(path))) return 'page';
    return home?.has(path) ? 'home' : room?.has(path) ? 'room' : 'parts';
  };
}

const staticImport = /^(?:import|export)(?! type)[^;]*? from '(\.[^']+\.tsx?)'/gm;

/** The module and all that it imports, directly or not, except with `import()`. */
function importsOf(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, imported = ''] of readFileSync(path, 'utf8').matchAll(staticImport))
    importsOf(join(dirname(path), imported), found);
  return found;
}
