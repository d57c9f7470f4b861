/** Finds the route of a request, and its policy, which is computed once: how requests are authorized, answered and logged. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../core/errors.ts';
import type { Endpoint } from '../protocol/endpoints/endpoint.ts';
import { type EndpointName, endpoints } from '../protocol/endpoints.ts';
import { pathOf } from './request/request.ts';
import {
  corsHeaders,
  fixedHeaders,
  linesOf,
  preflight,
  type Reply,
  tusCapabilities,
  tusCorsHeaders,
  tusHeaders,
} from './response/reply.ts';
import type { Handler, Handlers } from './routes/handler.ts';
import { basePathOf, type ProxySettings } from './urls.ts';

type Rule = 'counted' | 'free' | 'alwaysOpen' | 'resumable' | 'acceptsTicket' | 'acceptsUploadTicket';

/** With the rules of the endpoint, if it has one. */
export interface RoutePolicy extends Readonly<{ [R in Rule]: Endpoint[R] }> {
  /** For the log: the path without the values of parameters. */
  route: string;
  /** On every response, each with its line break. */
  headerLines: string;
  /** Whether a missing or wrong key and a reached limit do not matter. */
  isNeverRefused: boolean;
  /** Whether a wrong key does not matter, because it may be an admin token. */
  ignoresWrongKey: boolean;
  /** Whether the access to the room may count the request. */
  countsWithAccess: boolean;
  handle: Handler;
}

type Route = { policy: RoutePolicy; params: Record<string, string> };

export interface RouteDeps {
  handlers: Handlers;
  /** Without an admin token, the admin endpoints do not exist. */
  hasAdmin: boolean;
  /** The path of the public URL. */
  basePath: string;
  /** A connection may be idle for this long. */
  idleTimeoutMs: number;
  /** Bytes. */
  fileMax: number;
}

/** Returns a function that finds the route of a request. `path` is that of an endpoint, without the base path. */
export function createRoutes(deps: RouteDeps): (raw: IncomingMessage, path: string) => Route {
  const { handlers, hasAdmin, basePath } = deps;
  const known = Object.entries<Endpoint>(endpoints).filter(([, { isAdmin }]) => !isAdmin || hasAdmin);
  const headerLinesOf = createHeaderLines(deps);
  const byPath = Map.groupBy(
    known.map(([, endpoint]) => endpoint),
    ({ path }) => path,
  );
  const paths = new Map(
    byPath.entries().map(([path, group]) => [path, routesOfPath(path, group, headerLinesOf, deps.fileMax)] as const),
  );
  const match = createRouter(
    known.map(([name, endpoint]) => {
      const { method, path, sameOriginOnly } = endpoint;
      const headerLines = headerLinesOf({ sameOriginOnly, isTus: paths.get(path)?.isTus });
      const policy = policyOf(endpoint, headerLines, handlers[name as EndpointName]);
      return { method, path, target: { ...policy, countsWithAccess: countedWithAccess.has(name) } };
    }),
  );

  /** Some clients of tus can send only POST. */
  function matchOverridden(raw: IncomingMessage, path: string) {
    const method = raw.headers['x-http-method-override'];
    const found = typeof method === 'string' ? match(method.toUpperCase(), path) : undefined;
    return found?.kind === 'found' ? found : undefined;
  }

  function otherMethod(raw: IncomingMessage, path: string, { preflight, wrongMethod, isTus }: PathRoutes): Route {
    if (raw.method === 'OPTIONS') return { policy: preflight, params: {} };
    const found = isTus && raw.method === 'POST' ? matchOverridden(raw, path) : undefined;
    return found ? { policy: found.target, params: found.params } : { policy: wrongMethod, params: {} };
  }

  /** `/docs/` leads to `/docs`, and the base path leads to the home page, which ends with a slash. */
  function redirectOf({ method = '', url = '' }: IncomingMessage, path: string): Reply | undefined {
    const isBase = path !== '' && path === basePath;
    if (!isBase && !path.endsWith('/')) return undefined;
    const to = isBase ? '/' : path.slice(0, -1);
    const target = match(method, to);
    if (target.kind !== 'found' || !(isBase || openedByPeople.has(target.path))) return undefined;
    return { status: 308, headers: { Location: basePath + to + url.slice(pathOf(url).length) } };
  }

  return (raw, path) => {
    const found = match(raw.method ?? '', path);
    if (found.kind === 'found') return { policy: found.target, params: found.params };
    if (found.kind === 'wrong-method') return otherMethod(raw, path, paths.get(found.path) as PathRoutes);
    const policy = { ...withoutEndpoint(path, headerLinesOf({}), refuseUnknown), route: 'none' };
    const redirect = redirectOf(raw, path);
    return { policy: redirect ? { ...policy, isNeverRefused: true, handle: () => redirect } : policy, params: {} };
  };
}

/** The access to the room is the first step of these, apart from reading a small body. */
const countedWithAccess: ReadonlySet<string> = new Set<EndpointName>([
  'getRoom',
  'readContent',
  'writeContent',
  'editContent',
]);

/** People type these URLs, and may add a slash. */
const openedByPeople: ReadonlySet<string> = new Set(['/docs', '/share', '/invite', '/admin', '/r/:roomId']);

type HeaderLinesOf = (of: { sameOriginOnly?: boolean | undefined; isTus?: boolean | undefined }) => string;

/** The headers of a route. Replies must not repeat them. Pages of other origins may not read some responses. */
function createHeaderLines({ idleTimeoutMs }: RouteDeps): HeaderLinesOf {
  // Keeps clients from reusing a connection that is about to be closed.
  const own = { ...fixedHeaders, 'Keep-Alive': `timeout=${Math.floor(idleTimeoutMs / 1000)}` };
  const ownLines = linesOf(own);
  const readable = linesOf({ ...corsHeaders, ...own });
  const tus = linesOf({ ...tusCorsHeaders, ...own, ...tusHeaders });
  return ({ sameOriginOnly, isTus }) => (sameOriginOnly ? ownLines : isTus ? tus : readable);
}

function policyOf(endpoint: Pick<Endpoint, 'path' | Rule>, headerLines: string, handle: Handler): RoutePolicy {
  const { path: route, counted, free, alwaysOpen, resumable, acceptsTicket, acceptsUploadTicket } = endpoint;
  const rules = { counted, free, alwaysOpen, resumable, acceptsTicket, acceptsUploadTicket };
  const exceptions = { isNeverRefused: false, ignoresWrongKey: false, countsWithAccess: false };
  return { ...rules, ...exceptions, route, headerLines, handle };
}

/** The routes of a known path with a method that no endpoint has. */
type PathRoutes = { preflight: RoutePolicy; wrongMethod: RoutePolicy; isTus: boolean };

function routesOfPath(path: string, of: Endpoint[], headerLinesOf: HeaderLinesOf, fileMax: number): PathRoutes {
  const methods: string[] = of.map(({ method }) => method);
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
  const isTus = of.some((endpoint) => endpoint.isTus);
  const sameOriginOnly = of.some((endpoint) => endpoint.sameOriginOnly);
  const { headers, ...reply } = preflight(allow, sameOriginOnly);
  const answer = { ...reply, headers: { ...headers, ...(isTus && tusCapabilities(fileMax)) } };
  const wrongMethod = withoutEndpoint(path, headerLinesOf({ sameOriginOnly, isTus }), ({ raw }) => {
    const message = `This path does not support ${raw.method}. Use one of ${allow.join(', ')}.`;
    throw new PoproomError('METHOD_NOT_ALLOWED', message, { details: { allow } });
  });
  return {
    // Never refused, because the browser would hide the reason from the page.
    preflight: { ...wrongMethod, alwaysOpen: true, isNeverRefused: true, handle: () => answer },
    wrongMethod,
    isTus,
  };
}

function withoutEndpoint(path: string, headerLines: string, handle: Handler): RoutePolicy {
  // Every path under /api counts, including unknown ones: otherwise they could be probed without a limit.
  const counted = path === '/api' || path.startsWith('/api/');
  // An admin token is not a wrong API key, also if this server has none: then there is no such path.
  const ignoresWrongKey = /^\/api\/admin(\/|$)/.test(path);
  return { ...policyOf({ path, counted }, headerLines, handle), ignoresWrongKey };
}

function refuseUnknown(): never {
  throw new PoproomError('NOT_FOUND', 'No endpoint has this path. /docs lists all endpoints.');
}

interface PathTarget<T> {
  method: string;
  /** For example `/api/rooms/:roomId`. */
  path: string;
  target: T;
}

type Match<T> =
  | { kind: 'found'; target: T; path: string; params: Record<string, string> }
  | { kind: 'wrong-method'; path: string }
  | { kind: 'nothing' };

interface Node<T> {
  /** Of a literal. */
  segment: string;
  literals: Node<T>[];
  parameter: Node<T> | undefined;
  path: string;
  names: string[];
  methods: Map<string, T>;
}

/** Finds the target of a path, segment by segment. */
export function createRouter<T>(routes: readonly PathTarget<T>[]): (method: string, path: string) => Match<T> {
  const root = emptyNode<T>('');
  for (const route of routes) insert(root, route);

  return (method, path) => {
    const values: string[] = [];
    const node = path.startsWith('/') ? walk(root, path, values) : undefined;
    if (!node || node.methods.size === 0) return { kind: 'nothing' };
    const target = node.methods.get(method) ?? (method === 'HEAD' ? node.methods.get('GET') : undefined);
    if (target === undefined) return { kind: 'wrong-method', path: node.path };
    return { kind: 'found', target, path: node.path, params: named(node.names, values) };
  };
}

function emptyNode<T>(segment: string): Node<T> {
  return { segment, literals: [], parameter: undefined, path: '', names: [], methods: new Map() };
}

function insert<T>(root: Node<T>, { method, path, target }: PathTarget<T>): void {
  const names: string[] = [];
  let node = root;
  for (const segment of path.slice(1).split('/')) {
    const isParameter = segment.startsWith(':');
    const known = isParameter ? node.parameter : node.literals.find((literal) => literal.segment === segment);
    const next = known ?? emptyNode<T>(segment);
    if (isParameter) {
      names.push(segment.slice(1));
      node.parameter = next;
    } else if (!known) node.literals.push(next);
    node = next;
  }
  node.path = path;
  node.names = names;
  node.methods.set(method, target);
}

/** Collects the values of parameters. Compares segments in place: splitting the path took twice as long. */
function walk<T>(root: Node<T>, path: string, values: string[]): Node<T> | undefined {
  let node: Node<T> | undefined = root;
  let from = 1;
  for (;;) {
    const slash = path.indexOf('/', from);
    const to = slash === -1 ? path.length : slash;
    const literal: Node<T> | undefined = literalAt(node, path, from, to);
    if (!literal && to > from) values.push(path.slice(from, to));
    node = literal ?? (to > from ? node.parameter : undefined);
    if (!node || slash === -1) return node;
    from = slash + 1;
  }
}

function literalAt<T>({ literals }: Node<T>, path: string, from: number, to: number): Node<T> | undefined {
  for (const literal of literals) {
    if (literal.segment.length === to - from && path.startsWith(literal.segment, from)) return literal;
  }
  return undefined;
}

function named(names: readonly string[], values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < names.length; i++) params[names[i] as string] = decode(values[i] ?? '');
  return params;
}

/** A segment with invalid percent-encoding is kept as it is. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The path of an endpoint, from that of a request. */
export type EndpointPath = (path: string) => string;

/**
 * A proxy may remove the base path or leave it in place, so both are accepted. If the proxy removes it, a client can
 * send it twice, and evade what the proxy says about a path.
 */
export function endpointPathOf({ publicUrl, pathRemoved }: ProxySettings): EndpointPath {
  const basePath = basePathOf(publicUrl);
  const reserved = pathRemoved === undefined ? operatorsOnly : metricsPath;
  return (path) => {
    if (basePath === '' || pathRemoved || !path.startsWith(`${basePath}/`)) return path;
    const inner = path.slice(basePath.length);
    return reserved.test(inner) ? path : inner;
  };
}

/** A proxy that forwards the base path must not publish the metrics. */
const metricsPath = /^\/metrics$/;
const operatorsOnly = /^\/(metrics$|(api\/)?admin(\/|$))/;
