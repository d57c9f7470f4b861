/** The result of `npm pack`, installed: the command, the page, the SDK and its types. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { transformSync } from 'rolldown/utils';
import { launchBrowser } from '../support/browser.ts';
import { type Installed, packAndInstall, type Served, serve } from './installed.ts';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url));
const withinMs = 60_000;

let installed: Installed;
let contents: string[];
let served: Served;
/** Another origin than that of the server. */
const website = createServer();

before(
  async () => {
    installed = await packAndInstall();
    contents = await list(installed.tarball);
    website.listen(0, '127.0.0.1');
    await once(website, 'listening');
    served = await serve(installed, {
      POPROOM_FREE_LIMIT: '1000',
      POPROOM_ALLOWED_ORIGINS: originOf(website),
      POPROOM_WEBHOOK_HOSTS: 'hooks.invalid',
    });
  },
  { timeout: 400_000 },
);

after(async () => {
  website.close();
  website.closeAllConnections();
  await served?.stop();
  await installed?.remove();
});

const originOf = (server: typeof website) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** As paths within the package. */
async function list(tarball: string): Promise<string[]> {
  const { stdout } = await run('tar', ['-tzf', tarball]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}

const inPackage = (path: string) => join(installed.folder, 'node_modules/poproom', path);

describe('the package', () => {
  it('[PACK-1] has every file that its package.json names', async () => {
    const { bin, exports, files } = JSON.parse(await readFile(inPackage('package.json'), 'utf8'));
    const entries = ['./client', './client/lite'];
    const named: string[] = [
      ...Object.values(bin),
      exports['./package.json'],
      ...entries.flatMap((name) => Object.values<string>(exports[name])),
    ];
    for (const path of named) assert.ok(contents.includes(normalize(path)), path);
    for (const pattern of files) assert.ok(contents.some(isOf(pattern)), `something of ${pattern}`);
    assert.deepEqual(Object.keys(exports), [...entries, './package.json']);
  });

  const isOf = (pattern: string) => {
    const start = pattern.replace(/\*.*/, '');
    return (path: string) => path.startsWith(start);
  };

  it('[PACK-1] contains what is run and read, and nothing else', () => {
    const kinds = [
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|bin\/(poproom|chunks)\.js|man\/poproom\.1)$/,
      /^dist\/([\w-]+\.js|licenses\.md)$/,
    ];
    kinds.push(
      /^dist\/client\/(index|encryption|lite)\.js$/,
      /^dist\/(client|protocol|text)\/((text|sealed|crypto)\/)?[\w-]+\.d\.ts$/,
    );
    kinds.push(
      /^dist\/web\/((index|docs|admin)\.html|assets\/[\w.-]+\.(js|css|svg|png|ico|webmanifest|md)(\.(br|gz))?)$/,
    );
    assert.deepEqual(
      contents.filter((path) => !kinds.some((kind) => kind.test(path))),
      [],
    );
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

  it('[PACK-1] has no script that names a source map, because there are none', async () => {
    for (const path of contents.filter((candidate) => candidate.endsWith('.js'))) {
      assert.doesNotMatch(await readFile(inPackage(path), 'utf8'), /^\/\/[#@] sourceMappingURL=/m, path);
    }
  });

  const licenses: [string, string[]][] = [
    [
      'dist/licenses.md',
      ['@codemirror/state', '@noble/ciphers', '@noble/hashes', '@modelcontextprotocol/server', 'zod'],
    ],
    ['dist/web/assets/licenses.md', ['preact', '@preact/signals', '@codemirror/state', 'linkify-it']],
  ];
  for (const [file, libraries] of licenses) {
    it(`[PACK-1] contains the licences of the libraries in it: ${file}`, async () => {
      const text = await readFile(inPackage(file), 'utf8');
      for (const library of libraries) assert.match(text, new RegExp(`^## ${library} - `, 'm'));
    });
  }
});

describe('the command, installed', () => {
  it('[PACK-2] serves the page and the API', async () => {
    const page = await fetch(served.url);
    assert.match(await page.text(), /<title>Poproom<\/title>/);
    const docs = await fetch(`${served.url}/docs`);
    assert.match(await docs.text(), /<title>Poproom API<\/title>/);
    const health = await fetch(`${served.url}/api/health`);
    assert.equal(((await health.json()) as { status: string }).status, 'healthy');
  });

  it('[PACK-2] creates a room, and stores and reads its text and files', async () => {
    const { poproom, folder } = installed;
    const at = ['--url', served.url];
    const code = (await poproom('new', ...at)).trim();
    await poproom('put', code, 'from the package', ...at);
    assert.equal((await poproom('get', code, ...at)).trim(), 'from the package');

    await writeFile(join(folder, 'photo.bin'), 'not really a photo');
    await mkdir(join(folder, 'fetched'));
    await poproom('send', code, join(folder, 'photo.bin'), ...at);
    await poproom('fetch', code, 'photo.bin', '-o', join(folder, 'fetched'), ...at);
    assert.equal(await readFile(join(folder, 'fetched/photo.bin'), 'utf8'), 'not really a photo');
  });
});

/** By way of the SDK, what the program of consumer.ts says that it saw. */
const everything = [
  'healthy',
  'limit true',
  'code true',
  'pin true',
  'text one VERSION_CONFLICT one',
  'files 4 blob! bytes bytes strea 5 true',
  'zip true true',
  'once true true secret',
  'named Kitchen table',
  'live connecting connected snapshot written by A program content left left',
  'shared seven eight, remote local local undo, synchronized true left loading true, true',
  'encrypted sealed sealed Secret plans ZIP_UNAVAILABLE',
  'link true read Guests true',
  'webhook true hooks.invalid true',
  'deleted true ROOM_NOT_FOUND',
  'retried 0',
];

const program = async (sdk: string) =>
  (await readFile(new URL('consumer.ts', import.meta.url), 'utf8')).replace('../../src/client/index.ts', sdk);

describe('the SDK, installed', () => {
  it('[PACK-3] is one file that imports nothing, and a second one that it loads for encrypted rooms', async () => {
    const importsIn = async (name: string) => {
      const code = await readFile(inPackage(`dist/client/${name}`), 'utf8');
      return code.match(/^\s*(import|export)\b.*\bfrom\b.*|\bimport\(.*\)|\brequire\(.*/gm) ?? [];
    };
    assert.deepEqual(await importsIn('index.js'), ['import("./encryption.js")']);
    assert.deepEqual(await importsIn('lite.js'), []);
    const [own, ...others] = await importsIn('encryption.js');
    assert.match(own ?? '', /from "\.\/index\.js";$/);
    assert.deepEqual(others, []);
  });

  it('[PACK-3] works in Node', async () => {
    const { folder, env } = installed;
    await writeFile(join(folder, 'consumer.ts'), await program('poproom/client'));
    const code = `import { useEverything } from './consumer.ts';
      console.log(JSON.stringify(await useEverything(${JSON.stringify(served.url)})));`;
    const args = ['--input-type=module', '--eval', code];
    const { stdout } = await run(process.execPath, args, { cwd: folder, env, timeout: withinMs });
    assert.deepEqual(JSON.parse(stdout), everything);
  });

  it('[PACK-3] works unmodified in a browser, on a page of any origin that the server allows', async (t) => {
    const files = new Map([
      ['/', '<!doctype html><title>Elsewhere</title>'],
      ['/index.js', await readFile(inPackage('dist/client/index.js'), 'utf8')],
      ['/encryption.js', await readFile(inPackage('dist/client/encryption.js'), 'utf8')],
      ['/consumer.js', transformSync('consumer.ts', await program('./index.js')).code],
    ]);
    website.on('request', ({ url = '' }, response) => {
      const type = url.endsWith('.js') ? 'text/javascript' : 'text/html';
      response.writeHead(files.has(url) ? 200 : 404, { 'Content-Type': type }).end(files.get(url));
    });
    const page = await openPage(t, originOf(website));
    const seen = await page.evaluate(
      async ([consumer = '', url]) => (await import(consumer)).useEverything(url),
      ['/consumer.js', served.url],
    );
    assert.deepEqual(seen, everything);
  });

  async function openPage(t: TestContext, address: string) {
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(address);
    return page;
  }
});

describe('the types of the SDK', () => {
  const surroundings = {
    browser: { lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'], types: [] },
    node: { lib: ['esnext'], types: ['node'], typeRoots: [join(checkout, 'node_modules/@types')] },
  };
  const resolutions = {
    nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
  };

  for (const [where, libraries] of Object.entries(surroundings)) {
    for (const [resolution, modules] of Object.entries(resolutions)) {
      it(`[PACK-4] satisfy a strict program for ${where}, by ${resolution}`, async () => {
        const { folder } = installed;
        await writeFile(join(folder, 'consumer.ts'), await program('poproom/client'));
        const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
        const compilerOptions = {
          target: 'es2022',
          noEmit: true,
          skipLibCheck: false,
          ...strict,
          ...libraries,
          ...modules,
        };
        const config = join(folder, `tsconfig.${where}-${resolution}.json`);
        await writeFile(config, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
        assert.equal(await complaints(config), '');
      });
    }
  }

  async function complaints(config: string): Promise<string> {
    const tsc = join(checkout, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', config], { timeout: withinMs }).catch((error) => error);
    return stdout;
  }

  it('[PACK-4] are all used in that program', async () => {
    const index = await readFile(inPackage('dist/client/index.d.ts'), 'utf8');
    const exported = [...index.matchAll(/\{([^}]*)\}/g)].flatMap(
      ([, names = '']) => names.match(/\b[A-Z_a-z]\w+\b/g) ?? [],
    );
    const text = await program('poproom/client');
    for (const name of exported.filter((word) => word !== 'type')) assert.match(text, new RegExp(`\\b${name}\\b`));
  });
});
