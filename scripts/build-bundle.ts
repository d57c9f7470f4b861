/** Bundles with all libraries, for an executable that has no node_modules to look into. */
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build as rolldown } from 'rolldown';
import { type Plugin, build as vite } from 'vite';

/** Vite, because it writes down the licences of what it bundles. */
export async function bundleCommand(root: string, folder: string): Promise<{ main: string; licenses: string }> {
  await vite({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    plugins: [builtinsWhenUsed],
    build: {
      ssr: 'src/cli/main.ts',
      outDir: folder,
      emptyOutDir: false,
      target: 'esnext',
      minify: false,
      license: { fileName: 'licenses.md' },
      rolldownOptions: {
        // In the order of the source, each module when it is first needed: a start does not run the client of S3.
        output: { entryFileNames: 'main.js', codeSplitting: false, strictExecutionOrder: true },
      },
    },
  });
  return { main: join(folder, 'main.js'), licenses: join(folder, 'licenses.md') };
}

/** CommonJS, as a thread takes it that is started from a text. */
export async function bundleThread(root: string, folder: string): Promise<string> {
  const file = join(folder, 'writer-thread.cjs');
  await rolldown({
    cwd: root,
    input: 'src/store/sqlite/writer-thread.ts',
    platform: 'node',
    output: { file, format: 'cjs' },
    logLevel: 'warn',
  });
  return file;
}

const prefix = '\0builtin:';

/**
 * A bundle imports the modules of Node that any library needs before it does anything, and loading those takes longer
 * than all else of a start. This way each is loaded by the module that uses it.
 */
const builtinsWhenUsed: Plugin = {
  name: 'builtins-when-used',
  enforce: 'pre',
  resolveId(id) {
    // The bundler's own first lines need node:module.
    if (!isBuiltin(id) || id === 'node:module') return null;
    return prefix + (id.startsWith('node:') ? id : `node:${id}`);
  },
  load(id) {
    if (!id.startsWith(prefix)) return null;
    return `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(prefix.length))});`;
  },
};
