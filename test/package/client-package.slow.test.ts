/** The package of the SDK: its content, its types, and programs that use it in Node and in a bundle. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { rolldown } from 'rolldown';
import { readExamples } from '../support/guide.ts';
import { startTestServer } from '../support/server.ts';
import { type ClientPackage, packClient } from './installed.ts';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url));
const timeout = 60_000;

let installed: ClientPackage;
before(
  async () => {
    installed = await packClient();
  },
  { timeout: 300_000 },
);
after(() => installed?.remove());

const inPackage = (path: string) => join(installed.folder, 'node_modules/@poproom/client', path);
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

describe('the package of the SDK', () => {
  it('[SDK-32] has the version of the server, and no dependencies', async () => {
    const [own, server] = [await readJson(inPackage('package.json')), await readJson(join(checkout, 'package.json'))];
    assert.equal(own.version, server.version);
    // The SDK needs less than the server.
    assert.deepEqual(own.engines, { node: '>=22.3' });
    for (const name of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bin'])
      assert.equal(own[name], undefined, name);
    for (const script of Object.keys(own.scripts)) assert.equal(script, 'prepack', 'nothing runs on installation');
  });

  it('[SDK-32] contains the code, public types and licences, in less than 150 kB', async () => {
    const { stdout } = await run('tar', ['-tzf', installed.tarball]);
    const paths = stdout.trim().split('\n');
    const kinds = [
      /^package\/(package\.json|README\.md|LICENSE|dist\/licenses\.md)$/,
      /^package\/dist\/client\/(index|encryption|lite)\.js$/,
      /^package\/dist\/(client|protocol)\/(text\/)?[\w-]+\.d\.ts$/,
    ];
    assert.deepEqual(
      paths.filter((path) => !kinds.some((kind) => kind.test(path))),
      [],
    );
    for (const name of ['LICENSE', 'README.md', 'dist/client/index.js', 'dist/client/index.d.ts'])
      assert.ok(paths.includes(`package/${name}`), name);
    const { size } = await stat(installed.tarball);
    assert.ok(size < 150_000, `${size} bytes`);
    const licenses = await readFile(inPackage('dist/licenses.md'), 'utf8');
    for (const library of ['@codemirror/state', '@noble/ciphers', '@noble/hashes'])
      assert.match(licenses, new RegExp(`^## ${library} - [\\d.]+ \\(\\S+\\)\\n\\n\\S`, 'm'));
  });

  it('[SDK-33] has no problem that publint knows', async () => {
    const { messages, pkg } = await publint({ pkgDir: inPackage('.'), pack: false, strict: true });
    const found = messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
    // A release sets it to the repository of its workflow, so that a fork names its own.
    assert.deepEqual(
      found.filter((line) => !/repository/.test(line)),
      [],
    );
  });

  it('[SDK-32] has the program of its README, which compiles and runs in Node and in a bundle', async (t) => {
    const { url } = await startTestServer(t);
    const { example = '' } = readExamples('packages/client/README.md', 'ts');
    const program = join(installed.folder, 'program.ts');
    await writeFile(program, example.replace('http://localhost:8080', url));

    assert.equal(await compilerOutput(), '');
    assertOutput((await run(process.execPath, [program], { timeout })).stdout);

    const bundle = await rolldown({ input: program, platform: 'browser', logLevel: 'warn' });
    const dir = join(installed.folder, 'bundle');
    await bundle.write({ dir, format: 'esm' });
    await bundle.close();
    assertOutput((await run(process.execPath, [join(dir, 'program.js')], { timeout })).stdout);
  });

  it('[SDK-38] takes less than 12 kB in a bundle of a program that only writes texts, with Rolldown and with Vite', async () => {
    const program = join(installed.folder, 'write.js');
    const code = `import { createClient } from '@poproom/client/lite';
      const client = createClient({ url: 'https://pop.example.org' });
      await (await client.createRoom()).write('Hello');
      await client.room('7KQ2MX').write('again');`;
    await writeFile(program, code);
    const bundle = await rolldown({ input: program, platform: 'browser', logLevel: 'warn' });
    const { output } = await bundle.generate({ minify: true });
    await bundle.close();
    const { build } = await import('vite');
    const input = { rollupOptions: { input: program }, write: false };
    const built = await build({ root: installed.folder, logLevel: 'error', build: { target: 'esnext', ...input } });
    for (const chunks of [output, (built as unknown as { output: typeof output }).output]) {
      assert.equal(chunks.length, 1);
      const bytes = gzipSync(chunks[0].code).length;
      assert.ok(bytes > 4000 && bytes < 12_000, `${bytes} bytes`);
    }
  });

  it('[SDK-32] has types for the example of one-time files with the library of es2023 and of browsers', async () => {
    const { once = '' } = readExamples('docs/sdk.md', 'ts');
    await writeFile(join(installed.folder, 'once.mts'), once);
    const typeRoots = [join(checkout, 'node_modules/@types')];
    const lib = ['es2023', 'dom', 'dom.iterable'];
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      target: 'es2023',
      lib,
      types: ['node'],
      typeRoots,
      noEmit: true,
    };
    const config = join(installed.folder, 'tsconfig.once.json');
    await writeFile(
      config,
      JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: true }, files: ['once.mts'] }),
    );
    const tsc = join(checkout, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', config], { timeout }).catch((error) => error);
    assert.equal(stdout, '');
  });

  /** For a page, with the strictest settings. */
  async function compilerOutput(): Promise<string> {
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    const modules = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    };
    const compilerOptions = { ...strict, ...modules, types: [], noEmit: true, skipLibCheck: false };
    const config = join(installed.folder, 'tsconfig.json');
    await writeFile(config, JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const tsc = join(checkout, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', config], { timeout }).catch((error) => error);
    return stdout;
  }

  function assertOutput(stdout: string): void {
    const [created, files, ...others] = stdout.trim().split('\n');
    assert.match(created ?? '', /^\w{6,} http:\/\/\S+\/r\/\w+$/);
    assert.equal(files, "[ 'table.csv text/csv' ]");
    assert.deepEqual(others, ['Hello from a program', 'left', '1 Hello from a program']);
  }
});
