/** Prometheus accepts the metrics of a server, and the alerts in deploy/ fire when they should. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '../support/server.ts';

const pathOf = (name: string) => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
const readDeployed = (name: string) => readFile(pathOf(name), 'utf8');

function promtool(args: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('Prometheus', () => {
  it('[MON-1] accepts the metrics', async (t) => {
    const { api } = await startTestServer(t);
    await api.room();
    assert.deepEqual(promtool(['check', 'metrics'], (await api.get('/metrics')).text), { status: 0, output: '' });
  });

  it('[MON-7] accepts the alerts, which fire when they should', async () => {
    const config = promtool(['check', 'config', pathOf('prometheus.yml')]);
    assert.equal(config.status, 0, config.output);
    const tested = promtool(['test', 'rules', pathOf('prometheus-rules.test.yml')]);
    assert.equal(tested.status, 0, tested.output);
    const alerts = [...(await readDeployed('prometheus-rules.yml')).matchAll(/- alert: (\w+)/g)].map(
      ([, name = '']) => name,
    );
    const fired = await readDeployed('prometheus-rules.test.yml');
    for (const alert of alerts) assert.match(fired, new RegExp(`alertname: ${alert}\\n +exp_alerts:`), alert);
  });
});
