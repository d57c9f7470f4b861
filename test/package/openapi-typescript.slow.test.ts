/** The OpenAPI document with openapi-typescript and openapi-fetch, as a program of somebody else uses it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startTestServer } from '../support/server.ts';
import { npm } from './installed.ts';

const run = promisify(execFile);
const timeout = 120_000;
const checkout = fileURLToPath(new URL('../..', import.meta.url));

describe('types that openapi-typescript generates', () => {
  it('[SDK-34] compile strictly, and a program of openapi-fetch works with them', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'poproom-openapi-'));
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    await cp(fileURLToPath(new URL('openapi-typescript', import.meta.url)), folder, { recursive: true });
    if (!(await installTools(t, folder))) return;

    const { url, api } = await startTestServer(t);
    await writeFile(join(folder, 'openapi.json'), (await api.get('/api/openapi.json')).text);
    const node = (...args: string[]) => run(process.execPath, args, { cwd: folder, timeout });
    await node('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'schema.d.ts');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(strictly));
    const compiled = await node(join(checkout, 'node_modules/typescript/bin/tsc'), '-p', '.').catch((error) => error);
    assert.equal(compiled.stdout, '');

    assert.deepEqual(JSON.parse((await node('program.ts', url)).stdout), {
      link: true,
      version: 1,
      edited: 2,
      text: 'typed!',
      conflict: [412, 'VERSION_CONFLICT'],
      file: [true, 'table.csv', 'text/csv', 4],
      removed: true,
    });
  });
});

const strictly = {
  compilerOptions: {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
    ...{ module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], noEmit: true },
    ...{ allowImportingTsExtensions: true, types: ['node'], typeRoots: [join(checkout, 'node_modules/@types')] },
  },
  files: ['program.ts'],
};

/** From their own lockfile, because openapi-typescript needs TypeScript 5. False if there is no network. */
async function installTools(t: TestContext, folder: string): Promise<boolean> {
  const args = ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  const error = await npm(folder, ...args).then(
    () => undefined,
    (failed: Error & { stderr?: string }) => failed,
  );
  if (!error) return true;
  assert.doesNotMatch(error.stderr ?? '', /EINTEGRITY|EUSAGE/, 'the lockfile is wrong');
  t.skip(`openapi-typescript cannot be installed; is there a network? ${error.message.split('\n')[0]}`);
  return false;
}
