/** Checks the import rules: the table in CONTRIBUTING.md says what each folder may import. Cycles are not allowed. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const rows = readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/^\| `([^`]+)` *\| .*? \| (.*?) *\| (.*?) *\|$/gm);
const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const rules = [...rows].map(([, place = '', own, node]) => {
  return { place, own: [place, ...namesIn(own)], node: node === 'any' ? [''] : namesIn(node) };
});

const files = globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}']);
const imports = new Map(files.map((file) => [file, importsOf(file)]));
const problems = [...files.flatMap(ruleProblems), ...cycles()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else
  console.log(`The imports of ${files.length} files follow the rules. The longest chain has ${longestChain()} files.`);

function importsOf(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'((?:\..+?\.tsx?|node:.+?))'/g);
  return [...found].map(([, name = '']) => (name.startsWith('.') ? join(dirname(file), name) : name));
}

function ruleProblems(file: string): string[] {
  const rule = rules.filter(({ place }) => isIn(file, place)).sort((a, b) => b.place.length - a.place.length)[0];
  if (!rule) return [`${file} is in no row of the table in CONTRIBUTING.md`];
  const isAllowed = (name: string) =>
    name.startsWith('node:')
      ? rule.node.some((allowed) => name.startsWith(`node:${allowed}`))
      : rule.own.some((place) => isIn(name, place));
  const forbidden = (imports.get(file) ?? []).filter((name) => !isAllowed(name));
  return forbidden.map((name) => `${file} must not import ${name}`);
}

function isIn(file: string, place: string): boolean {
  const path = place.startsWith('web/') ? place : `src/${place}`;
  return place.endsWith('/') ? file.startsWith(path) : file === path;
}

function cycles(): string[] {
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] => {
    if (trail.includes(file)) return [`Cycle: ${[...trail.slice(trail.indexOf(file)), file].join(' → ')}`];
    if (done.has(file)) return [];
    const found = (imports.get(file) ?? []).flatMap((next) => visit(next, [...trail, file]));
    done.add(file);
    return found;
  };
  return files.flatMap((file) => visit(file, []));
}

/** The number of files of which each imports the next one, also for its types or on demand. */
function longestChain(): number {
  const lengths = new Map<string, number>();
  const lengthFrom = (file: string): number => {
    const own = (imports.get(file) ?? []).filter((name) => imports.has(name));
    const length = lengths.get(file) ?? 1 + Math.max(0, ...own.map(lengthFrom));
    lengths.set(file, length);
    return length;
  };
  return Math.max(...files.map(lengthFrom));
}
