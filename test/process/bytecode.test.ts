/** The bytecode that a run of the built command saves for later runs. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { dataFolder, run, startProcess } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('saved bytecode', () => {
  it('[RUN-1] is used by the next run, which compiles nothing', async (t) => {
    const folder = await dataFolder(t);
    const env = { NODE_COMPILE_CACHE: folder };
    const cached = async () => {
      const file = savedFiles(folder).find((path) => basename(path) === 'main');
      assert.ok(file, 'nothing was saved');
      return { file, ...(await stat(file)) };
    };
    await run(['--help'], env);
    const first = await cached();
    assert.equal((await run(['--help'], env)).code, 0);
    assert.equal((await cached()).ino, first.ino, 'saved again');

    await run(['completion', 'bash'], env);
    const second = await cached();
    assert.ok(second.size > first.size, 'the chunks of a second command are added');
    await Promise.all([run(['--help'], env), run(['completion', 'bash'], env)]);
    assert.equal((await cached()).ino, second.ino, 'saved again');
  });

  it('[RUN-1] is saved by a running server and by its writer thread', async (t) => {
    const folder = await dataFolder(t);
    const cache = join(folder, 'cache');
    const server = await startProcess(t, join(folder, 'data'), { NODE_COMPILE_CACHE: cache });
    assert.equal((await server.api.post('/api/rooms')).status, 201);
    await eventually('both are saved', () => {
      const names = savedFiles(cache).map((path) => basename(path));
      return names.includes('server') && names.includes('writer-thread');
    });
    await server.end('SIGKILL');
    const next = await startProcess(t, join(folder, 'data'), { NODE_COMPILE_CACHE: cache });
    assert.equal((await next.api.post('/api/rooms')).status, 201);
  });

  it('[RUN-1] is made again if the file is cut off, empty, damaged or something else', async (t) => {
    const folder = await dataFolder(t);
    const env = { NODE_COMPILE_CACHE: folder };
    const { stdout } = await run(['--help'], env);
    const file = savedFiles(folder).find((path) => basename(path) === 'main') ?? '';
    const whole = await readFile(file);
    const damages = [
      () => truncate(file, whole.length >> 1),
      () => truncate(file, 0),
      () => writeFile(file, 'no cache'),
      // V8 would crash with these.
      () => writeFile(file, Buffer.from(whole).fill(0, 20_000, 24_096)),
      () => writeFile(file, Buffer.from(whole).fill('x', whole.length - 10_000, whole.length - 9999)),
      () => writeFile(file, '[["main.js",1]]\n'),
      () => writeFile(file, whole.toString('latin1').replace(/-[^"]{8}\.js/g, '-00000000.js'), 'latin1'),
    ];
    for (const damage of damages) {
      await damage();
      assert.deepEqual(await run(['--help'], env), { code: 0, signal: null, stdout, stderr: '' });
      const { size, mode } = await stat(file);
      assert.ok(size >= whole.length, `${damage}`);
      assert.equal(mode & 0o777, 0o600);
      assert.deepEqual(savedFiles(folder), [file], 'temporary files are left');
    }
  });

  it('[RUN-1] is not used for a chunk that was changed in place', async (t) => {
    const copy = await dataFolder(t);
    await cp(join(root, 'bin'), join(copy, 'bin'), { recursive: true });
    await cp(join(root, 'dist'), join(copy, 'dist'), { recursive: true, filter: (path) => /dist$|\.js$/.test(path) });
    await cp(join(root, 'package.json'), join(copy, 'package.json'));
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    const env = { NODE_COMPILE_CACHE: join(copy, 'cache') };
    const help = async () => (await run(['--help'], env, [process.execPath, join(copy, 'bin/poproom.js')])).stdout;
    assert.match(await help(), /create a room/);
    const [chunk = ''] = globSync(join(copy, 'dist/command-*.js'));
    const code = await readFile(chunk, 'utf8');
    await writeFile(chunk, code.replace('create a room', 'Create A Room'));
    assert.match(await help(), /Create A Room/);
  });

  it('[RUN-1] is not needed: it is disabled with Node’s own, and a folder that cannot be written is no error', async (t) => {
    const folder = await dataFolder(t);
    const disabled = { NODE_COMPILE_CACHE: folder, NODE_DISABLE_COMPILE_CACHE: '1' };
    assert.equal((await run(['--help'], disabled)).code, 0);
    assert.deepEqual(savedFiles(folder), []);
    const unusable = await run(['--help'], { NODE_COMPILE_CACHE: '/dev/null' });
    assert.deepEqual([unusable.code, unusable.stderr], [0, '']);

    await run(['--help'], { NODE_COMPILE_CACHE: folder });
    const [file = ''] = savedFiles(folder);
    await rm(file);
    await mkdir(file);
    const blocked = await run(['--help'], { NODE_COMPILE_CACHE: folder });
    assert.deepEqual([blocked.code, blocked.stderr, savedFiles(folder)], [0, '', [file]]);
  });
});

/** Node's own files have names of eight hexadecimal digits. */
const savedFiles = (folder: string) => globSync(`${folder}/*/{main,server,writer-thread}*`);
