/** Handles a request: authorizes it, calls the handler of its endpoint and sends the response. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasCode, PoproomError } from '../core/errors.ts';
import type { ClientId, MaybePromise } from '../core/ports.ts';
import type { Budgets } from '../core/transfer-budget.ts';
import type { Turns } from '../core/turns.ts';
import { type Endpoint, type EndpointName, endpoints } from '../protocol/endpoints.ts';
import type { Connections } from './admin/connection-use.ts';
import {
  type Authorizer,
  type AuthResult,
  crossSiteRefused,
  type OwnOrigins,
  type Resumption,
  sourceOf,
  type Ticketing,
} from './request/authorize.ts';
import { overloaded } from './request/body.ts';
import { framingError, givenRequestId, pathOf, queryOf, type Request, traceIdIn } from './request/request.ts';
import {
  corsHeaders,
  errorReply,
  fixedHeaders,
  preflight,
  type Reply,
  tusCapabilities,
  tusCorsHeaders,
  tusHeaders,
} from './response/reply.ts';
import { isFailure, type RequestLog } from './response/request-log.ts';
import { holdUnsent, send } from './response/send.ts';
import { createRouter, type Match } from './router.ts';
import type { Handler, Handlers } from './routes/handler.ts';
import { type ErrorPage, isForPeople } from './routes/page.ts';
import { basePathOf, type EndpointPath } from './urls.ts';

export interface AppParts {
  authorizer: Authorizer;
  origins: OwnOrigins;
  resumption: Resumption;
  ticketing: Ticketing;
  handlers: Handlers;
  errorPage: ErrorPage;
  nextRequestId: () => string;
  isStopping: () => boolean;
  /** A connection may be idle for this long. */
  idleTimeoutMs: number;
  requestLog: RequestLog;
  budgets: Budgets;
  turns: Turns;
  /** Bytes. */
  fileMax: number;
  /** Undefined if there is no admin token. The admin endpoints do not exist then. */
  connections: Connections | undefined;
  endpointPath: EndpointPath;
}

/** `awaitsContinue`: the client sends its body only after a `100 Continue`. */
export type App = (raw: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => Promise<void>;

type Found = Match<{ endpoint: Endpoint; handle: Handler }>;

export function createApp(parts: AppParts): App {
  const { authorizer, origins, resumption, handlers, nextRequestId, isStopping, idleTimeoutMs, requestLog } = parts;
  const { budgets, turns, ticketing, errorPage, connections, endpointPath } = parts;
  const headersOf = headersWhileOpen(idleTimeoutMs);
  const uploadCapabilities = tusCapabilities(parts.fileMax);
  const basePath = basePathOf(origins.publicUrl);
  const match = createRouter(
    Object.entries<Endpoint>(endpoints)
      .filter(([, { isAdmin }]) => !isAdmin || connections)
      .map(([name, endpoint]) => ({
        method: endpoint.method,
        path: endpoint.path,
        target: { endpoint, handle: handlers[name as EndpointName] },
      })),
  );

  /** Some clients of tus can send only POST. */
  function matchOverridden(raw: IncomingMessage, path: string, found: Found): Found {
    const method = raw.headers['x-http-method-override'];
    const isOverridden = found.kind === 'wrong-method' && raw.method === 'POST' && isTus(found);
    return isOverridden && typeof method === 'string' ? match(method.toUpperCase(), path) : found;
  }

  /** `/docs/` leads to `/docs`, and the base path leads to the home page, which ends with a slash. */
  function redirectOf({ method = '', url = '' }: IncomingMessage, path: string, found: Found): Reply | undefined {
    const isBase = path !== '' && path === basePath;
    if (found.kind !== 'nothing' || !(isBase || path.endsWith('/'))) return undefined;
    const to = isBase ? '/' : path.slice(0, -1);
    const target = match(method, to);
    if (target.kind !== 'found' || !(isBase || openedByPeople.has(target.path))) return undefined;
    return { status: 308, headers: { Location: basePath + to + url.slice(pathOf(url).length) } };
  }

  /** How a request is free of charge; undefined if it counts. */
  function freeBy(found: Found, { ticket, resumeToken }: Pick<Request, 'ticket' | 'resumeToken'>) {
    if (isFree(found)) return () => true;
    if (ticket !== undefined) return ticketing.take;
    return resumeToken === undefined ? undefined : resumption.take;
  }

  function commonHeaders(found: Found, id: string): Record<string, string> {
    const headers: Record<string, string> = { ...headersOf(found), 'X-Request-Id': id };
    if (isStopping()) headers.Connection = 'close';
    return headers;
  }

  async function serve(
    id: string,
    raw: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): Promise<void> {
    const startedAt = performance.now();
    const { url = '', method = '' } = raw;
    const path = endpointPath(pathOf(url));
    const found = matchOverridden(raw, path, match(method, path));
    const common = commonHeaders(found, id);
    const invalidFraming = framingError(raw);
    // Node drops the bytes that follow an ignored Upgrade, so the next ones may start in the middle of a request.
    if (invalidFraming || raw.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const resumeToken = isResumable(found, method) ? resumption.tokenIn(raw, found.params.roomId ?? '') : undefined;
    const ticket = isTicketed(found) ? ticketing.ticketIn(queryOf(url), found.params.roomId ?? '') : undefined;
    let isBodyWithheld = awaitsContinue;
    const sendContinue = () => {
      if (isBodyWithheld) response.writeContinue();
      isBodyWithheld = false;
    };

    let client: ClientId | undefined;
    let countMismatch: AuthResult['countMismatch'];
    let reply: Reply;
    let error: unknown;
    try {
      connections?.begin(raw, routeOf(found));
      const source = sourceOf(raw, origins);
      const isCounted = isCountedPath(found, path);
      const isRefused = isCounted && source === 'cross-site-no-cors' && ticket === undefined;
      const authorizing = authorizer.authorize(raw, {
        counted: isCounted && !isRefused,
        alwaysOpen: isAlwaysOpen(found, method),
        isCrossSite: source !== 'own',
        isFree: freeBy(found, { ticket, resumeToken }),
        hasTicket: ticket !== undefined,
        isFreeIfMatching: isFree(found) && raw.headers['upload-checksum'] !== undefined,
      });
      const auth = authorizing instanceof Promise ? await authorizing : authorizing;
      client = auth.client;
      countMismatch = auth.countMismatch;
      Object.assign(common, auth.headers);
      if (invalidFraming) throw invalidFraming;
      if (isRefused) throw crossSiteRefused();
      const params = found.kind === 'found' ? found.params : {};
      const { isCrossSite } = auth;
      const query = queryOf(url);
      const tokens = { resumeToken, ticket };
      const request = {
        id,
        raw,
        response,
        params,
        query,
        client,
        isCrossSite,
        budgets,
        turns,
        ...tokens,
        sendContinue,
      };
      // Awaited even if it is available: responding within the call of Node's parser is slower.
      reply =
        redirectOf(raw, path, found) ??
        (await answer(found, request, refusalFor(path, auth.refusal), uploadCapabilities));
      if (!holdUnsent(request, budgets.responses, reply)) throw overloaded();
    } catch (thrown) {
      error = thrown;
      // The response is the same while the counters are unavailable.
      if (hasCode(error, 'CHECKSUM_MISMATCH')) Object.assign(common, await countMismatch?.().catch(() => undefined));
      reply = errorReply(error, id);
      // The assets of the page are blocked too.
      if (isForPeople(raw, path) && !hasCode(error, 'ADDRESS_BLOCKED')) reply = await errorPage(raw, reply);
    }
    client ??= authorizer.addressOf(raw);
    const route = routeOf(found);
    const answered = {
      requestId: id,
      traceId: traceIdIn(raw),
      client,
      method,
      route,
      status: reply.status,
      error,
      startedAt: startedAt + (reply.waitedMs ?? 0),
    };
    if (isFailure(answered)) requestLog.failed(answered);
    requestLog.observe(answered);

    const sending = send({ raw, response, isBodyWithheld: () => isBodyWithheld }, reply, common);
    if (sending) await sending;
    requestLog.answered(answered);
    connections?.answered(raw, answered);
  }

  return (raw, response, awaitsContinue) => {
    const id = givenRequestId(raw) ?? nextRequestId();
    return serve(id, raw, response, awaitsContinue).catch((err) => {
      requestLog.broken(id, authorizer.addressOf(raw), err);
      response.destroy();
    });
  };
}

const ownPaths = new Set<string>(
  Object.values(endpoints as Record<string, Endpoint>)
    .filter(({ sameOriginOnly }) => sameOriginOnly)
    .map(({ path }) => path),
);

/** People type these URLs, and may add a slash. */
const openedByPeople: ReadonlySet<string> = new Set(['/docs', '/share', '/invite', '/admin', '/r/:roomId']);

const tusPaths = new Set<string>(
  Object.values(endpoints as Record<string, Endpoint>)
    .filter(({ isTus }) => isTus)
    .map(({ path }) => path),
);

const isTus = (found: Found) => found.kind !== 'nothing' && tusPaths.has(found.path);

/** Whether pages of other origins may not read the response. */
const isSameOriginOnly = (found: Found) =>
  found.kind === 'found'
    ? found.target.endpoint.sameOriginOnly === true
    : found.kind !== 'nothing' && ownPaths.has(found.path);

function headersWhileOpen(idleTimeoutMs: number): (found: Found) => Record<string, string> {
  const own = {
    ...fixedHeaders,
    // Keeps clients from reusing a connection that is about to be closed.
    'Keep-Alive': `timeout=${Math.floor(idleTimeoutMs / 1000)}`,
  };
  const readable = { ...corsHeaders, ...own };
  const tus = { ...tusCorsHeaders, ...own, ...tusHeaders };
  return (found) => (isSameOriginOnly(found) ? own : isTus(found) ? tus : readable);
}

/** For the log, without the values of parameters. */
const routeOf = (found: Found): string => (found.kind === 'nothing' ? 'none' : found.path);

/** Every path under /api counts, including unknown ones: otherwise they could be probed without a limit. */
function isCountedPath(found: Found, path: string): boolean {
  return found.kind === 'found' ? found.target.endpoint.counted : path === '/api' || path.startsWith('/api/');
}

function isAlwaysOpen(found: Found, method: string): boolean {
  if (found.kind === 'found') return found.target.endpoint.alwaysOpen === true;
  return found.kind === 'wrong-method' && method === 'OPTIONS';
}

/** An admin token is not a wrong API key, also if this server has none: then there is no such path. */
const refusalFor = (path: string, refusal: PoproomError | undefined): PoproomError | undefined =>
  refusal && isAdminPath.test(path) && hasCode(refusal, 'INVALID_API_KEY') ? undefined : refusal;

const isAdminPath = /^\/api\/admin(\/|$)/;

const isFree = (found: Found): boolean => found.kind === 'found' && found.target.endpoint.free === true;

function isResumable(found: Found, method: string): found is Extract<Found, { kind: 'found' }> {
  return found.kind === 'found' && found.target.endpoint.resumable === true && method === 'GET';
}

function isTicketed(found: Found): found is Extract<Found, { kind: 'found' }> {
  return found.kind === 'found' && found.target.endpoint.acceptsTicket === true;
}

/** A preflight is never rejected, because the browser would hide the reason from the page. */
function answer(
  found: Found,
  request: Request,
  refusal: PoproomError | undefined,
  uploadCapabilities: Record<string, string>,
): MaybePromise<Reply> {
  if (found.kind === 'wrong-method' && request.raw.method === 'OPTIONS') {
    const { headers, ...reply } = preflight(found.allow, isSameOriginOnly(found));
    return { ...reply, headers: { ...headers, ...(isTus(found) && uploadCapabilities) } };
  }
  if (refusal) throw refusal;
  if (found.kind === 'found') return found.target.handle(request);
  if (found.kind === 'nothing') {
    throw new PoproomError('NOT_FOUND', 'No endpoint has this path. /docs lists all endpoints.');
  }
  throw methodNotAllowed(request.raw.method, found.allow);
}

function methodNotAllowed(method: string | undefined, allow: string[]): PoproomError {
  return new PoproomError(
    'METHOD_NOT_ALLOWED',
    `This path does not support ${method}. Use one of ${allow.join(', ')}.`,
    {
      details: { allow },
    },
  );
}
