/** Which files of test/ a test file imports. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** An import or a re-export that is more than a type. */
const statement = /^(?:import|export)(?! type\b)[^;'"]*'(\.[^']+\.ts)'|\bimport\('(\.[^']+\.ts)'\)/gm;
const known = new Map<string, readonly string[]>();

/** The file itself, and the files of test/ that it imports, directly or through others. */
export function testModulesOf(file: string): Set<string> {
  const found = new Set([file]);
  for (const module of found) for (const imported of importsOf(module)) found.add(imported);
  return found;
}

function importsOf(file: string): readonly string[] {
  const imports = known.get(file) ?? readImports(file);
  known.set(file, imports);
  return imports;
}

function readImports(file: string): string[] {
  const paths = [...readFileSync(file, 'utf8').matchAll(statement)].map(([, path, lazy]) => path ?? lazy ?? '');
  return paths.map((path) => join(dirname(file), path)).filter((path) => path.startsWith(join('test', '')));
}
