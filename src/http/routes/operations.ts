/** Health, probes, metrics and API descriptions. */
import { PoproomError } from '../../core/errors.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { HealthReport, Readiness } from '../../protocol/types.ts';
import { ownBase } from '../response/links.ts';
import { json } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';

export const health =
  ({ probes }: Service): Handler =>
  async () => {
    const { healthy, now, uptime } = await probes.health();
    const status = healthy ? 'healthy' : 'degraded';
    return json(healthy ? 200 : 503, { status, timestamp: toTimestamp(now), uptime } satisfies HealthReport);
  };

export const live = (): Handler => async () => json(200, { status: 'ok' });

export const ready =
  ({ probes }: Service): Handler =>
  async () => {
    const { ready, checks } = await probes.ready();
    return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks } satisfies Readiness);
  };

export const metrics =
  ({ metrics }: Service): Handler =>
  async () => {
    if (!metrics)
      throw new PoproomError(
        'NOT_FOUND',
        'Metrics are disabled. The operator can enable them with POPROOM_METRICS=true.',
      );
    const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };
    return { status: 200, headers, body: await metrics() };
  };

export const openapi = (): Handler => documentHandler(document);

export const asyncapi = (): Handler =>
  documentHandler(async () => (await import('../../../asyncapi.json', { with: { type: 'json' } })).default);

/** Serializes the document once. */
function documentHandler(load: () => Promise<unknown>): Handler {
  let bytes: Buffer | undefined;
  return async () => {
    bytes ??= Buffer.from(JSON.stringify(await load()));
    return { ...json(200, {}), body: bytes };
  };
}

/** One page for each host name of the server. */
const maxDocsPages = 8;

export const docs = ({ links }: Service): Handler => {
  const pages = new Map<string, Buffer>();
  return async (request) => {
    const base = ownBase(request, links);
    const page = pages.get(base) ?? (await docsPageFor(base));
    if (pages.size < maxDocsPages || pages.has(base)) pages.set(base, page);
    return { status: 200, headers: docsHeaders, body: page };
  };
};

/** The commands on the page contain the URL of this server, so that they can be copied. */
async function docsPageFor(base: string): Promise<Buffer> {
  const { docsPage } = await import('../docs/page.ts');
  docsTemplate ??= docsPage(await document());
  return Buffer.from(docsTemplate.replaceAll('http://localhost:8080', base));
}

let docsTemplate: string | undefined;

const docsHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-cache',
};

async function document() {
  return (await import('../../../openapi.json', { with: { type: 'json' } })).default;
}
