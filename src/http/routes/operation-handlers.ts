/** Health, probes, metrics and API descriptions. */
import { loadOnce } from '../../core/concurrency.ts';
import { PoproomError } from '../../core/errors.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { HealthReport, Readiness, ServerLimits } from '../../protocol/types.ts';
import { isSameToken, keyOf } from '../request/authorize.ts';
import { acceptedEncoding, compressedFile, json, variesByEncoding } from '../response/reply.ts';
import type { Handler, HandlerDeps } from './handler.ts';

export const operationHandlers = (deps: HandlerDeps) => ({
  health: health(deps),
  getLimits: getLimits(deps),
  openapi: openapi(deps),
  asyncapi: asyncapi(deps),
  live: live(),
  ready: ready(deps),
  metrics: metrics(deps),
  robots: robots(deps),
});

const health =
  ({ probes }: HandlerDeps): Handler =>
  async () => {
    const { healthy, now, uptime } = await probes.health();
    const status = healthy ? 'healthy' : 'degraded';
    return json(healthy ? 200 : 503, { status, timestamp: toTimestamp(now), uptime } satisfies HealthReport);
  };

const getLimits =
  ({ serverLimits, storedBytes }: HandlerDeps): Handler =>
  async ({ client }) =>
    json(200, { ...serverLimits, storedBytes: await storedBytes(client) } satisfies ServerLimits);

/** Private pages have a header for robots. They must be able to read it, so only the API is refused. */
const robots = ({ serverLimits: { demo } }: HandlerDeps): Handler => {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' };
  return () => ({ status: 200, headers, body: `User-agent: *\nDisallow: ${demo ? '/' : '/api/'}\n` });
};

const live = (): Handler => async () => json(200, { status: 'ok' });

const ready =
  ({ probes }: HandlerDeps): Handler =>
  async () => {
    const { ready, checks } = await probes.ready();
    return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks } satisfies Readiness);
  };

const metrics =
  ({ metrics, metricsToken }: HandlerDeps): Handler =>
  async ({ raw }) => {
    if (!metrics)
      throw new PoproomError(
        'NOT_FOUND',
        'Metrics are disabled. The operator can enable them with POPROOM_METRICS=true.',
      );
    if (metricsToken !== undefined) checkToken(keyOf(raw), metricsToken);
    const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };
    return { status: 200, headers, body: await metrics() };
  };

function checkToken(given: string | undefined, token: string): void {
  if (given === undefined) {
    throw new PoproomError('API_KEY_REQUIRED', 'Send the token of the metrics as Authorization: Bearer TOKEN.');
  }
  if (!isSameToken(given, token)) {
    throw new PoproomError('INVALID_API_KEY', 'This is not the token of the metrics.');
  }
}

/** The committed document with the URL and the limits of this server. */
const openapi = ({ links, serverLimits }: HandlerDeps): Handler =>
  documentHandler(async () => {
    const { default: document } = await import('../../../openapi.json', { with: { type: 'json' } });
    const servers = document.servers.map((server) => ({ ...server, url: links.publicUrl ?? server.url }));
    return { ...document, servers, 'x-limits': serverLimits };
  });

const asyncapi = ({ links }: HandlerDeps): Handler =>
  documentHandler(async () => {
    const { default: document } = await import('../../../asyncapi.json', { with: { type: 'json' } });
    return links.publicUrl === undefined
      ? document
      : { ...document, servers: serversAt(links.publicUrl, document.servers) };
  });

/** The servers of the AsyncAPI document at the URL of this one. */
function serversAt(publicUrl: string, servers: Record<string, { protocol: string }>): object {
  const { host, protocol, pathname } = new URL(publicUrl);
  const secure = protocol === 'https:' ? 's' : '';
  const path = pathname === '/' ? {} : { pathname };
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      { ...server, host, protocol: server.protocol + secure, ...path },
    ]),
  );
}

/** Serializes and compresses the document once. */
function documentHandler(load: () => Promise<unknown>): Handler {
  const read = loadOnce(async () => compressedFile(JSON.stringify(await load()), {}));
  return async ({ raw }) => {
    const { bytes } = await read();
    const encoding = acceptedEncoding(raw);
    const encoded = encoding === 'identity' ? {} : { 'Content-Encoding': encoding };
    return { ...json(200, {}, { ...variesByEncoding, ...encoded }), body: bytes.get(encoding) as Uint8Array };
  };
}
