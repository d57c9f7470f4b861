/** The files that `npm run build` creates for the page, and when it creates them. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pageIsFresh } from '../../scripts/build-freshness.ts';
import { buildServiceWorker } from '../../scripts/build-service-worker.ts';

async function folderWith(t: TestContext, files: Record<string, string | Buffer>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'poproom-build-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

describe('the page in dist/web', () => {
  const sources = ['web/index.html', 'web/src/a/b.tsx', 'src/client/index.ts', 'src/protocol/codes.ts'];
  sources.push('package-lock.json', 'scripts/build-page.ts');

  async function builtPage(t: TestContext): Promise<string> {
    const root = await folderWith(t, Object.fromEntries([...sources, 'src/server.ts'].map((name) => [name, ''])));
    await mkdir(join(root, 'dist/web'), { recursive: true });
    await writeFile(join(root, 'dist/web/index.html'), '');
    await touch(join(root, 'dist/web/index.html'), 10);
    return root;
  }

  const touch = (path: string, secondsAhead: number) => {
    const at = Date.now() / 1000 + secondsAhead;
    return utimes(path, at, at);
  };

  it('[SITE-1] is built if it is missing', async (t) => {
    const root = await builtPage(t);
    assert.equal(await pageIsFresh(root), true);
    await rm(join(root, 'dist/web/index.html'));
    assert.equal(await pageIsFresh(root), false);
  });

  for (const source of [...sources, 'web/src/a', 'src/client']) {
    it(`[SITE-1] is rebuilt after a change of ${source}`, async (t) => {
      const root = await builtPage(t);
      await touch(join(root, source), 20);
      assert.equal(await pageIsFresh(root), false);
    });
  }

  it('[SITE-1] is not rebuilt if only the server was changed', async (t) => {
    const root = await builtPage(t);
    await touch(join(root, 'src/server.ts'), 20);
    assert.equal(await pageIsFresh(root), true);
  });
});

describe('the service worker', () => {
  /** A page and the worker that goes with it, which says what it was told. */
  async function toldTo(t: TestContext, page: Record<string, string | Buffer>): Promise<{ v: string; s: string[] }> {
    const worker = 'Object.assign(self, { told: { v: __VERSION__, s: __SHELL__ } });';
    const root = await folderWith(t, { 'web/src/service-worker.ts': worker });
    await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'));
    const folder = await folderWith(t, page);
    await buildServiceWorker(root, folder);
    const code = await readFile(join(folder, 'assets/service-worker.js'), 'utf8');
    const self: { told?: { v: string; s: string[] } } = {};
    new Function('self', code)(self);
    return self.told as { v: string; s: string[] };
  }

  const png = (width: number) => Buffer.from(`89504e470d0a1a0a0000000d49484452${hex(width)}${hex(width)}`, 'hex');
  const hex = (number: number) => number.toString(16).padStart(8, '0');

  const page = {
    'index.html': '<!doctype html>',
    'assets/index.abcdef012345.js': '1',
    'assets/index.abcdef012345.js.map': '{}',
    'assets/licenses.md': '#',
    'assets/icon.svg': '<svg/>',
    'assets/favicon.ico': 'icon',
    'assets/de.abcdef012345.js': '2',
    'assets/icon-192.png': png(192),
    'assets/icon-512.png': png(512),
  };

  it('[SITE-7] is one script that contains the list of files for offline use, without the languages', async (t) => {
    const { s } = await toldTo(t, page);
    assert.deepEqual(s, ['/', '/assets/icon-192.png', '/assets/icon.svg', '/assets/index.abcdef012345.js']);
  });

  it('[SITE-7] changes whenever one of those files has changed, and only then', async (t) => {
    const { v } = await toldTo(t, page);
    assert.match(v, /^[0-9a-f]{12}$/);
    assert.equal((await toldTo(t, { ...page, 'assets/licenses.md': '##', 'assets/icon-512.png': png(513) })).v, v);
    assert.notEqual((await toldTo(t, { ...page, 'index.html': '<!doctype html>\n' })).v, v);
    assert.notEqual((await toldTo(t, { ...page, 'assets/icon.svg': '<svg></svg>' })).v, v);
    assert.notEqual((await toldTo(t, { ...page, 'assets/more.svg': '' })).v, v);
  });
});
