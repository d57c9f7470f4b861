/**
 * Finds the endpoint of a path, segment by segment. It compares in place: splitting the path took longer than the
 * rest, and every request is routed here.
 */

export interface Route<T> {
  method: string;
  /** For example `/api/rooms/:roomId`. */
  path: string;
  target: T;
}

export type Match<T> =
  | { kind: 'found'; target: T; path: string; params: Record<string, string> }
  | { kind: 'wrong-method'; path: string }
  | { kind: 'nothing' };

interface Node<T> {
  literals: { segment: string; node: Node<T> }[];
  parameter: Node<T> | undefined;
  path: string;
  names: string[];
  methods: Map<string, T>;
}

export function createRouter<T>(routes: readonly Route<T>[]): (method: string, path: string) => Match<T> {
  const root = emptyNode<T>();
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

function emptyNode<T>(): Node<T> {
  return { literals: [], parameter: undefined, path: '', names: [], methods: new Map() };
}

function insert<T>(root: Node<T>, { method, path, target }: Route<T>): void {
  const names: string[] = [];
  let node = root;
  for (const segment of path.slice(1).split('/')) {
    if (segment.startsWith(':')) names.push(segment.slice(1));
    node = segment.startsWith(':') ? parameterOf(node) : literalOf(node, segment);
  }
  node.path = path;
  node.names = names;
  node.methods.set(method, target);
}

function parameterOf<T>(node: Node<T>): Node<T> {
  node.parameter ??= emptyNode<T>();
  return node.parameter;
}

function literalOf<T>(node: Node<T>, segment: string): Node<T> {
  const known = node.literals.find((literal) => literal.segment === segment);
  if (known) return known.node;
  const next = emptyNode<T>();
  node.literals.push({ segment, node: next });
  return next;
}

function walk<T>(root: Node<T>, path: string, values: string[]): Node<T> | undefined {
  let node: Node<T> | undefined = root;
  for (let from = 1; from <= path.length; ) {
    const slash = path.indexOf('/', from);
    const to = slash === -1 ? path.length : slash;
    const literal: Node<T> | undefined = literalAt(node, path, from, to);
    if (!literal && to > from) values.push(path.slice(from, to));
    node = literal ?? (to > from ? node.parameter : undefined);
    if (!node) return undefined;
    from = to + 1;
  }
  return node;
}

function literalAt<T>({ literals }: Node<T>, path: string, from: number, to: number): Node<T> | undefined {
  for (const { segment, node } of literals) {
    if (segment.length === to - from && path.startsWith(segment, from)) return node;
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
