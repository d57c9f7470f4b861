/** Health, probes, metrics and API descriptions. */
import { loadOnce } from '../../core/concurrency.ts';
import { PoproomError } from '../../core/errors.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { HealthReport, Readiness, ServerLimits } from '../../protocol/types.ts';
import { isSameToken, keyOf } from '../request/authorize.ts';
import { compressedFile, json } from '../response/reply.ts';
import type { Handler, HandlerDeps, Handlers } from './handler.ts';
import { encodedFor } from './page-handlers.ts';

export const operationHandlers = (deps: HandlerDeps) => {
  const { probes, serverLimits, storedBytes, metrics, metricsToken, links } = deps;
  return {
    async health() {
      const { healthy, now, uptime } = await probes.health();
      const status = healthy ? 'healthy' : 'degraded';
      return json(healthy ? 200 : 503, { status, timestamp: toTimestamp(now), uptime } satisfies HealthReport);
    },

    getLimits: async ({ client }) =>
      json(200, { ...serverLimits, storedBytes: await storedBytes(client) } satisfies ServerLimits),

    /** The committed document with the URL and the limits of this server. */
    openapi: documentHandler(async () => {
      const { default: document } = await import('../../../openapi.json', { with: { type: 'json' } });
      const servers = document.servers.map((server) => ({ ...server, url: links.publicUrl ?? server.url }));
      return { ...document, servers, 'x-limits': serverLimits };
    }),

    asyncapi: documentHandler(async () => {
      const { default: document } = await import('../../../asyncapi.json', { with: { type: 'json' } });
      if (links.publicUrl === undefined) return document;
      return { ...document, servers: serversAt(links.publicUrl, document.servers) };
    }),

    live: () => json(200, { status: 'ok' }),

    async ready() {
      const { ready, checks } = await probes.ready();
      return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks } satisfies Readiness);
    },

    async metrics({ raw }) {
      if (!metrics) throw new PoproomError('NOT_FOUND', metricsDisabled);
      if (metricsToken !== undefined) checkToken(keyOf(raw), metricsToken);
      const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };
      return { status: 200, headers, body: await metrics() };
    },

    /** Private pages have a header for robots. They must be able to read it, so only the API is refused. */
    robots() {
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' };
      return { status: 200, headers, body: `User-agent: *\nDisallow: ${serverLimits.demo ? '/' : '/api/'}\n` };
    },
  } satisfies Partial<Handlers>;
};

const metricsDisabled = 'Metrics are disabled. The operator can enable them with POPROOM_METRICS=true.';

function checkToken(given: string | undefined, token: string): void {
  if (given === undefined)
    throw new PoproomError('API_KEY_REQUIRED', 'Send the token of the metrics as Authorization: Bearer TOKEN.');
  if (!isSameToken(given, token)) throw new PoproomError('INVALID_API_KEY', 'This is not the token of the metrics.');
}

/** The servers of the AsyncAPI document at the URL of this one. */
function serversAt(publicUrl: string, servers: Record<string, { protocol: string }>): object {
  const { host, protocol, pathname } = new URL(publicUrl);
  const secure = protocol === 'https:' ? 's' : '';
  const here = { host, ...(pathname !== '/' && { pathname }) };
  const moved = Object.entries(servers).map(([name, server]) => {
    return [name, { ...server, protocol: server.protocol + secure, ...here }];
  });
  return Object.fromEntries(moved);
}

/** Serializes and compresses the document once. */
function documentHandler(load: () => Promise<unknown>): Handler {
  const read = loadOnce(async () => compressedFile(JSON.stringify(await load()), {}));
  return async ({ raw }) => {
    const { body, encodingHeaders } = encodedFor(raw, await read());
    return { ...json(200, {}, encodingHeaders), body };
  };
}
