/** Handles a request: matches its route, authorizes it, answers it and sends the response. */
import type { IncomingMessage } from 'node:http';
import { chain } from '../core/concurrency.ts';
import type { Budgets } from '../core/defence/transfer-budget.ts';
import type { Turns } from '../core/defence/work.ts';
import { hasCode, type PoproomError } from '../core/errors.ts';
import type { MaybePromise } from '../core/ports/basics.ts';
import type { Spending } from '../core/ports/clients.ts';
import { parseRoomCode } from '../protocol/room-code.ts';
import type { Connections } from './admin/admin-interface.ts';
import {
  type Authorizer,
  type AuthResult,
  crossSiteRefused,
  type FreeRequests,
  type IsFree,
  type OwnOrigins,
  sourceOf,
} from './request/authorize.ts';
import { overloaded } from './request/body.ts';
import { framingError, givenRequestId, pathOf, queryOf, type Request, traceIdIn } from './request/request.ts';
import { errorReply, type Reply } from './response/reply.ts';
import { encodeLong, holdUnsent, type RequestLog, type RouteResponse, send } from './response/send.ts';
import { createRoutes, type EndpointPath, type RouteDeps, type RoutePolicy } from './router.ts';
import { type ErrorPage, isForPeople } from './routes/page-handlers.ts';
import { basePathOf } from './urls.ts';

export interface AppDeps extends Omit<RouteDeps, 'hasAdmin' | 'basePath'> {
  authorizer: Authorizer;
  origins: OwnOrigins;
  freeRequests: FreeRequests;
  errorPage: ErrorPage;
  nextRequestId: () => string;
  /** Aborts when the server stops. */
  stopping: AbortSignal;
  requestLog: RequestLog;
  budgets: Budgets;
  turns: Turns;
  /** Undefined if there is no admin token. */
  connections: Connections | undefined;
  endpointPath: EndpointPath;
  /** Whether search engines may show anything of this server. */
  isIndexable: boolean;
}

/** `awaitsContinue`: the client sends its body only after a `100 Continue`. */
export type App = (raw: IncomingMessage, response: RouteResponse, awaitsContinue: boolean) => Promise<void>;

/** A request on its way to its response. */
interface Exchange extends Pick<Request, 'id' | 'raw' | 'params' | 'query' | 'resumeToken' | 'ticket'> {
  response: RouteResponse;
  /** From `performance.now()`. */
  startedAt: number;
  path: string;
  policy: RoutePolicy;
  /** Headers of the response, without those of the route, the rate limit and the reply. */
  headers: Record<string, string>;
  invalidFraming: PoproomError | undefined;
  /** Whether the client still waits for `100 Continue`. */
  isBodyWithheld: boolean;
  /** Set when the request has been authorized. */
  auth: AuthResult | undefined;
}

type Received = Pick<Exchange, 'id' | 'raw' | 'response' | 'isBodyWithheld'>;

export function createApp(deps: AppDeps): App {
  const { authorizer, origins, freeRequests, requestLog, budgets, turns, connections } = deps;
  const basePath = basePathOf(origins.publicUrl);
  const findRoute = createRoutes({ ...deps, hasAdmin: connections !== undefined, basePath });

  async function serve(received: Received): Promise<void> {
    const exchange = match(received);
    let reply: Reply;
    let error: unknown;
    try {
      const authorizing = authorize(exchange);
      const auth = authorizing instanceof Promise ? await authorizing : authorizing;
      // Awaited even if it is available: responding within the call of Node's parser is slower.
      reply = await answer(exchange, auth);
      if (auth.spending) await count(exchange, auth.spending);
    } catch (thrown) {
      error = exchange.auth?.spending ? await countFailed(exchange, exchange.auth.spending, thrown) : thrown;
      reply = await answerError(exchange, error);
    }
    await sendReply(exchange, reply, error);
  }

  function match(received: Received): Exchange {
    const { id, raw, response, isBodyWithheld } = received;
    const startedAt = performance.now();
    const { url = '', method } = raw;
    const path = deps.endpointPath(pathOf(url));
    const { policy, params } = findRoute(raw, path);
    const { roomId = '' } = params;
    const query = queryOf(url);
    response.headerLines = `${policy.headerLines}X-Request-Id: ${id}\r\n`;
    const headers: Record<string, string> = {};
    if (!deps.isIndexable) headers['X-Robots-Tag'] = 'noindex';
    if (deps.stopping.aborted) headers.Connection = 'close';
    const invalidFraming = framingError(raw);
    // Node drops the bytes that follow an ignored Upgrade, so the next ones may start in the middle of a request.
    if (invalidFraming || raw.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const resumeToken = policy.resumable && method === 'GET' ? freeRequests.resumeTokenIn(raw, roomId) : undefined;
    const ticket = policy.acceptsTicket ? freeRequests.ticketIn(query, roomId) : undefined;
    const found = { id, raw, response, isBodyWithheld, startedAt, path, policy, params, query };
    return { ...found, headers, invalidFraming, resumeToken, ticket, auth: undefined };
  }

  function authorize(exchange: Exchange): MaybePromise<AuthResult> {
    const { raw, response, policy, ticket, invalidFraming } = exchange;
    connections?.begin(raw, policy.route);
    const source = sourceOf(raw, origins);
    const isForeignForm = policy.counted && source === 'cross-site-no-cors' && ticket === undefined;
    const entry = {
      counted: policy.counted && !isForeignForm,
      alwaysOpen: policy.alwaysOpen === true,
      isCrossSite: source !== 'own',
      isFree: freeBy(exchange),
      hasTicket: ticket !== undefined,
      isFreeIfMatching: policy.free === true && raw.headers['upload-checksum'] !== undefined,
      countsWithAccess: authorizer.countsWithAccess && canCountWithAccess(exchange),
    };
    return chain(authorizer.authorize(raw, entry), (auth) => {
      exchange.auth = auth;
      response.rateLines = auth.rateLines;
      if (invalidFraming) throw invalidFraming;
      if (isForeignForm) throw crossSiteRefused();
      return auth;
    });
  }

  /** Throws if the request is over the limit. */
  async function count({ response }: Exchange, spending: Spending): Promise<void> {
    const counted = await authorizer.settle(spending);
    response.rateLines = counted.rateLines;
    if (counted.refusal) throw counted.refusal;
  }

  /** A failed request counts too. Returns the error, which is another one over the limit. */
  const countFailed = (exchange: Exchange, spending: Spending, thrown: unknown): Promise<unknown> =>
    count(exchange, spending).then(
      () => thrown,
      (refusal) => (hasCode(refusal, 'RATE_LIMITED') ? refusal : thrown),
    );

  /** How a request is free of charge; undefined if it counts. */
  function freeBy({ raw, policy, params, ticket, resumeToken }: Exchange): IsFree | undefined {
    if (policy.free) return () => true;
    if (policy.acceptsUploadTicket) return freeRequests.uploadTakerFor(raw, params.roomId ?? '');
    if (ticket !== undefined) return freeRequests.takeTicketed;
    return resumeToken === undefined ? undefined : freeRequests.takeResumed;
  }

  function answer(
    exchange: Exchange,
    { client, keyName, isCrossSite, refusal, spending }: AuthResult,
  ): MaybePromise<Reply> {
    const { policy, id, raw, response, params, query, resumeToken, ticket } = exchange;
    if (refusal && isRefused(policy, refusal)) throw refusal;
    const sendContinue = () => {
      if (exchange.isBodyWithheld) response.writeContinue();
      exchange.isBodyWithheld = false;
    };
    const received = { id, raw, response, params, query, resumeToken, ticket };
    const request: Request = { ...received, client, keyName, isCrossSite, spending, budgets, turns, sendContinue };
    return chain(policy.handle(request), (handled) => {
      const reply = encodeLong(handled);
      if (!holdUnsent(request, budgets.responses, reply)) throw overloaded();
      return reply;
    });
  }

  async function answerError({ id, raw, response, path, auth }: Exchange, error: unknown): Promise<Reply> {
    // The response is the same while the counters are unavailable.
    const counted = hasCode(error, 'CHECKSUM_MISMATCH') && auth?.countMismatch?.().catch(() => undefined);
    response.rateLines = (counted && (await counted)) || response.rateLines;
    const reply = errorReply(error, id);
    // The assets of the page are blocked too.
    return isForPeople(raw, path) && !hasCode(error, 'ADDRESS_BLOCKED') ? deps.errorPage(raw, reply) : reply;
  }

  async function sendReply(exchange: Exchange, reply: Reply, error: unknown): Promise<void> {
    const { id, raw, response, policy, startedAt, auth, headers } = exchange;
    const answered = {
      requestId: id,
      traceId: traceIdIn(raw),
      client: auth?.client ?? authorizer.addressOf(raw),
      method: raw.method ?? '',
      route: policy.route,
      status: reply.status,
      error,
      startedAt: startedAt + (reply.waitedMs ?? 0),
    };
    requestLog.answering(answered);
    const sending = send({ raw, response, isBodyWithheld: () => exchange.isBodyWithheld }, reply, headers);
    if (sending) await sending;
    requestLog.answered(answered);
    connections?.answered(raw, answered);
  }

  return (raw, response, awaitsContinue) => {
    const id = givenRequestId(raw) ?? deps.nextRequestId();
    return serve({ id, raw, response, isBodyWithheld: awaitsContinue }).catch((err) => {
      requestLog.broken(id, authorizer.addressOf(raw), err);
      response.destroy();
    });
  };
}

/** A link leads to its room only in another step. A body of unknown size, or one that was not sent yet, must wait. */
const canCountWithAccess = ({ policy, params, raw, isBodyWithheld }: Exchange): boolean =>
  policy.countsWithAccess &&
  !isBodyWithheld &&
  raw.headers['transfer-encoding'] === undefined &&
  parseRoomCode(params.roomId ?? '') !== undefined;

const isRefused = ({ isNeverRefused, ignoresWrongKey }: RoutePolicy, refusal: PoproomError): boolean =>
  !isNeverRefused && !(ignoresWrongKey && hasCode(refusal, 'INVALID_API_KEY'));
