/**
 * Replaces imports of built-in modules with `process.getBuiltinModule`. An `import` evaluates every export of the
 * module, which loads half of Node. The slowest modules are loaded when one of their functions is first called, because
 * together they would take a quarter of the server's startup time.
 */
import type { Plugin } from 'rolldown';

const slow = new Set(['node:crypto', 'node:fs/promises']);
const statement = /^import (.+) from "(node:[^"]+)";$/gm;

export const lateBuiltins: Plugin = {
  name: 'late-builtins',
  renderChunk: (code) => code.replaceAll(statement, (_, names: string, id: string) => bindings(names, id)),
};

function bindings(names: string, id: string): string {
  const load = `process.getBuiltinModule("${id}")`;
  if (!names.startsWith('{')) return `const ${names.replace('* as ', '')} = ${load};`;
  const pairs = names
    .slice(1, -1)
    .split(',')
    .map((name) => name.trim().split(' as '))
    .map(([name = '', local = name]) => ({ name, local }));
  const isLate = ({ name }: { name: string }) => slow.has(id) && isPlainFunction(id, name);
  const now = pairs.filter((pair) => !isLate(pair)).map(({ name, local }) => `${name}: ${local}`);
  const late = pairs.filter(isLate).map(({ name, local }) => `const ${local} = (...args) => ${load}.${name}(...args);`);
  return [...(now.length > 0 ? [`const { ${now.join(', ')} } = ${load};`] : []), ...late].join('\n');
}

/** And not a class or a constant, which are there or not. */
function isPlainFunction(id: string, name: string): boolean {
  const value = (process.getBuiltinModule(id) as unknown as Record<string, unknown>)[name];
  return typeof value === 'function' && !/^[A-Z]/.test(name);
}
