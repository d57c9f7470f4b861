/** Metrics for Prometheus. The library is loaded only if they are enabled. */
import type { StorageUsage } from '../../core/ports.ts';
import type { Observation } from '../response/request-log.ts';

export interface Metrics {
  observe(seen: Observation): void;
  text(): Promise<string>;
}

export interface Gauges {
  rooms: () => Promise<number>;
  channels: () => number;
  lostLogLines: () => number;
  storage: () => Promise<StorageUsage>;
  /** 0 for no limit. */
  maxStoredBytes: number;
}

export async function createMetrics(gauges: Gauges): Promise<Metrics> {
  const { rooms, channels, lostLogLines, storage, maxStoredBytes } = gauges;
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'poproom_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  new Gauge({
    name: 'poproom_rooms',
    help: 'Rooms that have not expired.',
    registers: [registry],
    async collect() {
      this.set(await rooms());
    },
  });
  new Gauge({
    name: 'poproom_live_channels',
    help: 'Open live channels.',
    registers: [registry],
    collect() {
      this.set(channels());
    },
  });
  new Counter({
    name: 'poproom_log_lines_lost_total',
    help: 'Log lines that could not be written.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(lostLogLines());
    },
  });
  new Gauge({
    name: 'poproom_stored_bytes',
    help: 'Bytes of all files, stored and reserved for uploads in progress.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const { stored, reserved } = await storage();
      this.set({ state: 'stored' }, stored);
      this.set({ state: 'reserved' }, reserved);
    },
  });
  new Gauge({
    name: 'poproom_stored_bytes_limit',
    help: 'Maximum bytes of all files together; 0 means no limit.',
    registers: [registry],
  }).set(maxStoredBytes);
  return {
    observe({ method, route, status, seconds }) {
      requests.labels(knownMethod(method), route, String(status)).observe(seconds);
    },
    text: () => registry.metrics(),
  };
}

/** Labels are never removed, so clients must not be able to create new ones. */
function knownMethod(method: string): string {
  return ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'].includes(method) ? method : 'other';
}
