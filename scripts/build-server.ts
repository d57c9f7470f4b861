/** Builds the command and the writer's thread into dist/, for a Node that finds the libraries in node_modules. */
import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Script } from 'node:vm';
import { build, type Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { steps } from '../src/store/sqlite/schema.ts';
import { slimCodeMirror } from './build-slim-codemirror.ts';

/**
 * Bundles the modules that every server start needs into a few files instead of nineteen: each file costs half a
 * millisecond. The writer thread loads the database only, and what only some commands need stays separate.
 */
const groups = [
  {
    name: 'engine',
    test: new RegExp(
      `src/(${[
        'core/(?!errors|migration)[^/]+',
        'store/sqlite/(open|access)',
        'blobs/(?!s3|inspect)[^/]+',
        'core/defence/(garbage|work)',
        'bus/local',
        'config',
        'engine/[^/]+',
        'redis/redis-url',
        'http/(urls|certificate|request/request|response/reply|page/server-limits)',
        'live/wire',
        'metrics/definitions',
        'webhooks/hosts',
      ].join('|')})\\.ts$`,
    ),
  },
  { name: 'database', test: /src\/store\/(generations|sqlite\/(?!writer-thread|open|access)[^/]+)\.ts$/, priority: 1 },
  // Otherwise part of the engine, which commands for rooms would then load: 6 ms of their 90 ms (40 paired starts).
  {
    name: 'shared',
    test: /src\/(core\/(errors|files\/local-name)|protocol\/(room-code|limits|live-protocol|json-values)|text\/(document|edits))\.ts$/,
    priority: 2,
  },
  // Imports CodeMirror, which the writer thread does not need: 16 ms of the 74 ms of CPU time until the first write.
  { name: 'edits', test: /src\/text\/[^/]+\.ts$/, priority: 1 },
  { name: 'command', test: /src\/cli\/(command|commands|room-commands|errors|text-width)\.ts$/ },
];

/** Returns the paths of the modules in the output. */
export async function buildServer(root: string): Promise<string[]> {
  const former = globSync('dist/*.js', { cwd: root });
  const { output } = await build({
    cwd: root,
    input: { main: 'src/cli/main.ts', 'writer-thread': 'src/store/sqlite/writer-thread.ts' },
    platform: 'node',
    // Libraries stay in node_modules, with their licences and their updates, except those that the SDK inlines, and the
    // one of MCP, which would add 17 MB to every installation (ADR 31).
    external: (id, importer) =>
      /^(?!@noble\/|@codemirror\/|@modelcontextprotocol\/)[^./\0]/.test(id) && !isInlined(importer),
    output: {
      dir: 'dist',
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: { groups },
      // A fifth of the code, which would be read at each start. The licences are in dist/licenses.md.
      comments: false,
    },
    plugins: [slimCodeMirror(), scripts],
    transform: { define: { 'import.meta.wholeSchema': JSON.stringify(wholeSchema()) } },
    logLevel: 'warn',
  });
  // Not before: a build that fails leaves what was there.
  const built = new Set(output.map(({ fileName }) => join('dist', fileName)));
  const stale = former.filter((file) => !built.has(file));
  await Promise.all(stale.map((file) => rm(join(root, file), { force: true })));
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}

/** The script that creates what all steps of the schema together create, with the rows that they insert. */
export function wholeSchema(): string {
  const db = new DatabaseSync(':memory:');
  for (const step of steps) db.exec(step);
  const objects = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid");
  const [tables, others] = [[] as string[], [] as string[]];
  for (const { type, name, sql } of objects.all()) {
    if (type === 'table') tables.push(String(sql), ...rowsOf(db, String(name)));
    else others.push(String(sql));
  }
  db.close();
  // A trigger would count the rows again.
  return [...tables, ...others].map((statement) => `${statement};`).join('\n');
}

function rowsOf(db: DatabaseSync, table: string): string[] {
  const literal = (value: unknown) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value));
  const rows = db.prepare(`SELECT * FROM ${table}`).all();
  return rows.map((row) => `INSERT INTO ${table} VALUES (${Object.values(row).map(literal)})`);
}

/** Modules of a library that is inlined. Their own imports are, too. */
const isInlined = (importer = '') => /node_modules\/(@modelcontextprotocol|zod)\//.test(importer);

const slow = new Set([
  'node:crypto',
  'node:dns/promises',
  'node:fs/promises',
  'node:https',
  'node:stream/consumers',
  'node:zlib',
]);
const importStatement = /^import (?:(.+) from )?"([^"]+)";$/;
const exportStatement = /^export \{ (.+) \}(?: from "([^"]+)")?;$/;

/**
 * Turns the chunks that the entry points import into scripts for bin/chunks.js: functions that return their exports. The
 * entry points stay modules.
 */
const scripts: Plugin = {
  name: 'scripts',
  // Not in renderChunk, after which rolldown would remove the unused function.
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk') chunk.code = chunk.isEntry ? asEntryPoint(chunk) : asScript(chunk.code);
  },
};

const asEntryPoint = ({ name, code }: { name: string; code: string }) =>
  [
    'import { importModule as $import, load as $load, openCache } from "../bin/chunks.js";',
    `openCache("${name}");`,
    statementsOf(code).join('\n'),
  ].join('\n');

function asScript(code: string): string {
  const body = statementsOf(code).join('\n').replaceAll('import.meta.url', '$$url');
  const script = `(function ($load, $import, $require, $url) { "use strict";\n${body}\n})`;
  // Throws if a statement of modules is left.
  new Script(script);
  return script;
}

/** The statements of a module, with those that import and export replaced. Texts may contain the same words. */
function statementsOf(code: string): string[] {
  return parseAst(code).body.map(({ start, end }) =>
    code
      .slice(start, end)
      .replace(importStatement, (_, names: string | undefined, id: string) => {
        if (id.startsWith('node:')) return bindings(names ?? '{}', id);
        const load = `${id.startsWith('.') ? '$load' : '$require'}("${id}");`;
        return names === undefined ? load : `const ${names.replace('* as ', '').replaceAll(' as ', ': ')} = ${load}`;
      })
      .replace(exportStatement, (_, names: string, from?: string) => {
        const pairs = names.split(', ').map((pair) => pair.split(' as '));
        const values = pairs.map(([name, exported = name]) => `${exported}: ${from ? `$load("${from}").` : ''}${name}`);
        return `return { ${values.join(', ')} };`;
      })
      .replaceAll(/\bimport\((?="[^"]+"\))/g, '$$import('),
  );
}

/**
 * Replaces imports of built-in modules with `process.getBuiltinModule`. An `import` evaluates every export of the
 * module, which loads half of Node. The slowest modules are loaded when one of their functions is first called, because
 * together they would take a quarter of the server's startup time.
 */
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
