/** Finds the endpoint of a path. The paths are few and fixed, so a look-up by segments is all there is. */

export interface Route<T> {
  method: string;
  /** Such as `/api/rooms/:roomId`. */
  path: string;
  target: T;
}

export type Match<T> =
  | { kind: 'found'; target: T; path: string; params: Record<string, string> }
  | { kind: 'wrong-method'; path: string; allow: string[] }
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
  for (const route of routes) plant(root, route);

  return (method, path) => {
    const values: string[] = [];
    const node = path.startsWith('/') ? walk(root, path.slice(1).split('/'), values) : undefined;
    if (!node || node.methods.size === 0) return { kind: 'nothing' };
    const target = node.methods.get(method) ?? (method === 'HEAD' ? node.methods.get('GET') : undefined);
    if (target === undefined) return { kind: 'wrong-method', path: node.path, allow: allowed(node) };
    const params: Record<string, string> = {};
    node.names.forEach((name, i) => {
      params[name] = decode(values[i] ?? '');
    });
    return { kind: 'found', target, path: node.path, params };
  };
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), parameter: undefined, path: '', names: [], methods: new Map() };
}

function plant<T>(root: Node<T>, { method, path, target }: Route<T>): void {
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
  const next = node.literals.get(segment) ?? emptyNode<T>();
  node.literals.set(segment, next);
  return next;
}

function walk<T>(root: Node<T>, segments: string[], values: string[]): Node<T> | undefined {
  let node: Node<T> | undefined = root;
  for (const segment of segments) {
    const literal: Node<T> | undefined = node.literals.get(segment);
    if (!literal && segment !== '') values.push(segment);
    node = literal ?? (segment === '' ? undefined : node.parameter);
    if (!node) return undefined;
  }
  return node;
}

function allowed<T>({ methods }: Node<T>): string[] {
  const own = [...methods.keys()];
  return [...own, ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'];
}

/** What is not valid percent-encoding stands for itself. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
