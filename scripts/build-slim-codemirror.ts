/**
 * Bundles only the parts of `@codemirror/state` that changes of a text need. Its classes write to each other when the
 * library is loaded, so a bundler keeps all of it (16 KB gzipped instead of 3) unless we declare that such writes have
 * no side effects. That is not true for other libraries, so this one is bundled separately first.
 */
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

const library = '@codemirror/state';
const entry = `\0slim:${library}`;

/** The names that src/text imports. */
const exported = ['ChangeSet'];

/** The methods of a change set that neither src/text nor the library's other methods call. A bundler keeps them. */
const unusedMethods = [
  'apply',
  'composeDesc',
  'filter',
  'fromJSON',
  'invert',
  'iterChangedRanges',
  'iterGaps',
  'toJSON',
  'touchesRange',
];

/** The trees of lines in which the library stores inserted text. Ours has only one line; see src/text/changes.ts. */
const treesOfLines = /^class Text \{.*?(?=^\/\*\*\nThis type describes a line in the document)/ms;
const oneLine = `class Text {
  constructor(text) { this.text = text; }
  get length() { return this.text.length; }
  append(other) { return new Text(this.text + other.text); }
  slice(from, to) { return new Text(this.text.slice(from, to)); }
  toString() { return this.text; }
  static of([text]) { return new Text(text); }
}
Text.empty = /*@__PURE__*/ new Text('');
`;

/** For Rolldown and Vite. */
export function slimCodeMirror() {
  let bundled: Promise<string> | undefined;
  return {
    name: 'slim-codemirror',
    enforce: 'pre' as const,
    async resolveId(this: Resolver, source: string, importer: string | undefined) {
      if (source !== library) return null;
      // With the path of the library, under which Vite finds its licence.
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      return resolved && `${resolved.id}?slim`;
    },
    load(id: string) {
      if (!id.endsWith('?slim')) return null;
      bundled ??= bundle(id.slice(0, -'?slim'.length));
      return bundled;
    },
  };
}

interface Resolver {
  resolve(source: string, importer: string | undefined, options: { skipSelf: boolean }): Promise<{ id: string } | null>;
}

async function bundle(path: string): Promise<string> {
  const build = await rolldown({
    input: entry,
    platform: 'neutral',
    treeshake: { propertyWriteSideEffects: false, propertyReadSideEffects: false, unknownGlobalSideEffects: false },
    plugins: [
      {
        name: 'slim-entry',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? `export { ${exported.join(', ')} } from ${JSON.stringify(path)};` : null),
        transform: transformed,
      },
    ],
    logLevel: 'warn',
  });
  try {
    const { output } = await build.generate({ format: 'esm' });
    return output[0].code;
  } finally {
    await build.close();
  }
}

function transformed(code: string, id: string) {
  if (id === entry) return null;
  return { code: id.includes(library) ? withoutUnused(code) : code, moduleSideEffects: false };
}

/** Fails if a new version of the library has other names. */
function withoutUnused(code: string): string {
  if (!treesOfLines.test(code)) throw new Error(`${library} has changed: the class Text was not found.`);
  const shorter = code.replace(treesOfLines, () => oneLine);
  const unused = methodsIn(shorter).filter(({ name }) => unusedMethods.includes(name));
  const missing = unusedMethods.filter((name) => !unused.some((method) => method.name === name));
  if (missing.length > 0) throw new Error(`${library} has changed: no methods ${missing.join(', ')}.`);
  return unused.reduceRight((kept, { start, end }) => kept.slice(0, start) + kept.slice(end), shorter);
}

interface Method {
  name: string;
  start: number;
  end: number;
}

/** The methods of change sets, in the order of the source. */
function methodsIn(code: string): Method[] {
  return parseAst(code).body.flatMap((statement) => {
    if (statement.type !== 'ClassDeclaration' || !/^Change(Desc|Set)$/.test(statement.id?.name ?? '')) return [];
    return statement.body.body.flatMap((member) =>
      member.type === 'MethodDefinition' && member.key.type === 'Identifier'
        ? { name: member.key.name, start: member.start, end: member.end }
        : [],
    );
  });
}
