/**
 * Of `@codemirror/state`, only what changes of a text need. The library's classes write to each other when it is loaded,
 * so a bundler keeps all of it (16 KB gzipped instead of 6) unless told that such writes have no effect outside. That is
 * true of this library, and not of others, so it is bundled by itself first.
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
