/** A failed start leaves nothing open. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { startServer } from '../../src/server.ts';

const nothing = () => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

describe('a failed start', () => {
  it('[RUN-6] releases the folder, so that the next one can use it', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
    t.after(() => rm(folder, { recursive: true }));
    const settings = { PORT: '0', POPROOM_HOST: '127.0.0.1', POPROOM_DATA_DIR: folder, POPROOM_METRICS: 'true' };
    const installation = registerHooks({
      resolve(name, context, next) {
        if (name.endsWith('/metrics/process.ts')) throw new Error('A module is missing.');
        return next(name, context);
      },
    });
    await assert.rejects(startServer(readConfig(settings), log), /module is missing/);
    installation.deregister();
    const { stop } = await startServer(readConfig(settings), log);
    await stop();
  });
});
