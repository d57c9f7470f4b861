/**
 * Bundles only the parts of `@codemirror/state` that changes of a text need. Its classes write to each other when the
 * library is loaded, so a bundler keeps all of it (16 KB gzipped instead of 6) unless we declare that such writes have
 * no side effects. That is not true for other libraries, so this one is bundled separately first.
 */
import { rolldown } from 'rolldown';

const library = '@codemirror/state';
const entry = `\0slim:${library}`;

/** The names that src/text imports. */
const exported = ['ChangeSet'];

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
