/** The nginx sample of the operations guide, on a real nginx. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { dataFolder } from '../support/process.ts';
import { startTestServer } from '../support/server.ts';

describe('the nginx sample', () => {
  it('[OPS-12] logs no room code, even if the server is gone, and keeps /metrics private', async (t) => {
    const folder = await dataFolder(t);
    const server = await startTestServer(t);
    const port = await freePort();
    await writeFile(join(folder, 'nginx.conf'), await configuration(folder, port, server.port));
    const nginx = spawn('nginx', ['-p', folder, '-e', join(folder, 'main.log'), '-c', join(folder, 'nginx.conf')]);
    const exit = once(nginx, 'exit');
    t.after(async () => {
      nginx.kill('SIGTERM');
      await exit;
    });
    const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    await eventually('nginx forwards requests', async () => (await status('/livez').catch(() => 0)) === 200);
    assert.equal((await server.api.get('/metrics')).status, 200);
    assert.equal(await status('/metrics'), 404);
    await server.stop();
    assert.equal(await status('/r/7KQ2MX'), 502);
    for (const name of ['main.log', 'error.log']) {
      assert.ok(!(await readFile(join(folder, name), 'utf8')).includes('7KQ2MX'), name);
    }
  });
});

/** The sample with other addresses and without TLS. */
async function configuration(folder: string, port: number, target: number): Promise<string> {
  const guide = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, sample = ''] = /```nginx\n(.*?)```/s.exec(guide) ?? [];
  const changed = sample
    .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
    .replace(/^ *ssl_.*$/gm, '')
    .replaceAll(/10\.0\.0\.1[12]:8080/g, `127.0.0.1:${target}`)
    .replace('/var/log/nginx/error.log', join(folder, 'error.log'));
  const own = `daemon off; pid ${join(folder, 'pid')}; events {}`;
  return `${own}\nhttp {\n${changed}\n}\n`;
}
