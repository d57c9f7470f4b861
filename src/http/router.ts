/** Finds the endpoint of a path, segment by segment. */

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
  literals: Map<string, Node<T>>;
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
  return { literals: new Map(), parameter: undefined, path: '', names: [], methods: new Map() };
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
  const literal = node.literals.get(segment) ?? emptyNode<T>();
  node.literals.set(segment, literal);
  return literal;
}

/** Collects the values of parameters. */
function walk<T>(root: Node<T>, path: string, values: string[]): Node<T> | undefined {
  let node = root;
  for (const segment of path.slice(1).split('/')) {
    const literal = node.literals.get(segment);
    if (!literal && segment !== '') values.push(segment);
    const next = literal ?? (segment === '' ? undefined : node.parameter);
    if (!next) return undefined;
    node = next;
  }
  return node;
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
