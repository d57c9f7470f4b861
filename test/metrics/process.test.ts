/** The metrics of the process and of Node. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { measureProcess } from '../../src/metrics/process.ts';
import { eventually } from '../support/eventually.ts';

/** Dashboards for Node use these names. */
const names = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_heap_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_version_info',
  'nodejs_gc_duration_seconds',
];

describe('the metrics of the process', () => {
  it('[MON-1] have the names that dashboards for Node use', { skip: process.platform !== 'linux' }, async (t) => {
    const metrics = measureProcess();
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    // A socket is a handle, and a timer is a resource.
    const server = (await import('node:net')).createServer().listen(0, '127.0.0.1');
    t.after(() => server.close());
    await eventually('a garbage collection is observed', async () => (await metrics.text()).includes('kind="major"'));
    // The delays start again with each reading, and have no value before the first sample.
    await eventually('all are present', async () => {
      const types = [...(await metrics.text()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
      return names.every((name) => types.includes(name)) && types;
    });
  });

  it('[MON-1] are those of this process', async () => {
    const text = await measureProcess().text();
    const value = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
    const { user, system } = process.cpuUsage();
    assert.ok(value('process_cpu_seconds_total') > 0 && value('process_cpu_seconds_total') <= (user + system) / 1e6);
    assert.ok(Math.abs(value('process_start_time_seconds') - (Date.now() / 1000 - process.uptime())) < 2);
    assert.ok(Math.abs(value('process_resident_memory_bytes') / process.memoryUsage.rss() - 1) < 0.5);
    assert.ok(value('process_open_fds') > 2 && value('process_open_fds') <= value('process_max_fds'));
    assert.match(text, new RegExp(`^nodejs_version_info\\{version="${process.version}",major="\\d+",`, 'm'));
  });
});
