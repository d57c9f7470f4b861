/** A server that starts with another secret than that of its rooms. */
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { embeddedSettings } from '../support/engine.ts';
import { startTestServer } from '../support/server.ts';

const [first, second] = ['the first secret of these rooms', 'another secret for these rooms'];

describe('a changed secret', () => {
  it('[OPS-3] keeps the server from starting, with a sentence that says what to do', async (t) => {
    const { api, restart } = await startTestServer(t, { POPROOM_SECRET: first });
    const room = await api.room({ pin: '0427' });
    await assert.rejects(restart({ POPROOM_SECRET: second }), (error: Error) => {
      assert.match(
        error.message,
        /^POPROOM_SECRET is not the one .* former value\. .* poproom serve --accept-new-secret$/,
      );
      return !error.message.includes(second);
    });
    await restart({ POPROOM_SECRET: first });
    assert.equal((await api.get(`/api/rooms/${room}`, { pin: '0427' })).status, 200);
  });

  it('[OPS-3] is accepted if the operator says so, and is the expected one from then on', async (t) => {
    const { api, restart } = await startTestServer(t, { POPROOM_SECRET: first }, { acceptNewSecret: true });
    const [open, locked] = [await api.room(), await api.room({ pin: '0427' })];
    await restart({ POPROOM_SECRET: second });
    assert.equal((await api.get(`/api/rooms/${open}`)).status, 200);
    assert.equal((await api.get(`/api/rooms/${locked}`, { pin: '0427' })).status, 403);
  });

  it('[OPS-3] in the data folder is noticed too, and a missing one is not replaced', async (t) => {
    const { folder, restart } = await startTestServer(t, embeddedSettings);
    const path = join(folder, 'secret');
    const secret = await readFile(path);
    await rm(path);
    await assert.rejects(
      restart(),
      /^PoproomError: The secret in \S+secret is missing\. Restore that file from a backup\. /,
    );
    await assert.rejects(readFile(path), { code: 'ENOENT' });
    await writeFile(path, 'f'.repeat(64));
    await assert.rejects(restart(), /secret is not the one that the PINs of the stored rooms were made with/);
    await writeFile(path, 'f'.repeat(31));
    await assert.rejects(restart(), /secret is damaged/);
    await writeFile(path, secret);
    await restart();
  });
});
