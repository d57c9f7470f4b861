/** `npm run dev`, on a copy of the source. */
import assert from 'node:assert/strict';
import { appendFile, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { launch, portIn } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('npm run dev', () => {
  it('[RUN-16] serves from source, and restarts after a change of any part, such as the writer thread', async (t) => {
    const folder = await copyOfSource();
    const output = await startDev(t, folder);
    const first = await eventually('the server listens', () => ports(output())[0], 60_000);
    const room = await api(first).room();

    const writerThread = join(folder, 'src/store/sqlite/writer-thread.ts');
    const second = await eventually('the server restarts', () => portAfterChange(output, writerThread), 90_000);
    assert.equal((await api(second).get(`/api/rooms/${room}`)).status, 200);
  });
});

const api = (port: number) => createApi(() => `http://127.0.0.1:${port}`);

async function copyOfSource(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-dev-'));
  await cp(join(root, 'src'), join(folder, 'src'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs the command of the script, and removes the folder at the end. Returns its output so far. */
async function startDev(t: TestContext, folder: string): Promise<() => string> {
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const [node, ...args] = String(scripts.dev).replace(' src/', ` ${folder}/src/`).split(' ');
  assert.equal(node, 'node');
  const env = { POPROOM_DATA_DIR: join(folder, 'data') };
  const { child, output, errors, exit } = launch(args, env, [process.execPath]);
  t.after(async () => {
    child.kill('SIGTERM');
    await exit;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return () => {
    assert.doesNotMatch(errors(), /Error/);
    return output();
  };
}

/** Of each start. */
function ports(output: string): number[] {
  return output.split('\n').flatMap((line) => portIn(line) ?? []);
}

/** The watcher learns of a file shortly after it was loaded. A change may be too early, so this can be repeated. */
async function portAfterChange(output: () => string, file: string): Promise<number | undefined> {
  await appendFile(file, '\n');
  return eventually('a second start', () => ports(output())[1], 30_000).catch(() => undefined);
}
