/** Health, probes, figures and the description of the API. */
import { PoproomError } from '../../core/errors.ts';
import type { HealthReport, Readiness } from '../../protocol/types.ts';
import type { Handler, Service } from '../handler.ts';
import { ownBase } from '../links.ts';
import { json } from '../reply.ts';
import { timestamp } from '../timestamp.ts';

export const health =
  ({ probes }: Service): Handler =>
  async () => {
    const { healthy, now, uptime } = await probes.health();
    const status = healthy ? 'healthy' : 'degraded';
    return json(healthy ? 200 : 503, { status, timestamp: timestamp(now), uptime } satisfies HealthReport);
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
    if (!metrics) throw new PoproomError('NOT_FOUND', 'Figures are served only with POPROOM_METRICS=true.');
    const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };
    return { status: 200, headers, body: await metrics() };
  };

export const openapi = (): Handler => async () => json(200, await document());

export const asyncapi = (): Handler => async () => {
  return json(200, (await import('../../../asyncapi.json', { with: { type: 'json' } })).default);
};

export const docs = ({ links }: Service): Handler => {
  let page: string | undefined;
  return async (request) => {
    page ??= (await import('../docs/page.ts')).docsPage(await document());
    // Its commands are meant to be copied, so they name the server that the reader is at.
    return {
      status: 200,
      headers: docsHeaders,
      body: page.replaceAll('http://localhost:8080', ownBase(request, links)),
    };
  };
};

const docsHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-cache',
};

async function document() {
  return (await import('../../../openapi.json', { with: { type: 'json' } })).default;
}
