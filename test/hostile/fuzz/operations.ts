/** The operations that the OpenAPI document of a running server describes, with all references followed. */
import assert from 'node:assert/strict';

export interface Schema {
  type?: string;
  pattern?: string;
  minimum?: number;
  enum?: unknown[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
  example: string;
}

export interface Operation {
  /** Such as `/api/rooms/{roomId}`. */
  path: string;
  method: string;
  parameters: Parameter[];
  /** Of the JSON body that it takes. */
  bodySchema: Schema | undefined;
  takesFile: boolean;
  /** By status: the documented headers, with their schemas. */
  responses: Map<number, Map<string, Schema>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into at many depths
type Node = any;

export async function operationsOf(url: string): Promise<Operation[]> {
  const document: Node = await (await fetch(`${url}/api/openapi.json`)).json();
  const follow = (node: Node): Node => (node.$ref ? follow(at(document, node.$ref)) : node);
  const operations = Object.entries<Node>(document.paths)
    .filter(isOn)
    .flatMap(([path, byMethod]) =>
      Object.entries<Node>(byMethod).map(([method, described]) => operationOf(path, method, described, follow)),
    );
  assert.ok(operations.length > 20, 'the document describes the whole service');
  return operations;
}

/** Not the admin interface, which needs its token for every request. */
const isOn = ([path]: [string, Node]) => !/^(\/api)?\/admin(\/|$)/.test(path);

function operationOf(path: string, method: string, described: Node, follow: (node: Node) => Node): Operation {
  const content = described.requestBody?.content ?? {};
  const json = content['application/json'];
  const responses = Object.entries<Node>(described.responses).map(
    ([status, response]) => [Number(status), headersOf(follow(response), follow)] as const,
  );
  return {
    path,
    method: method.toUpperCase(),
    parameters: (described.parameters ?? []).map(follow),
    bodySchema: json && follow(json.schema),
    takesFile: 'multipart/form-data' in content || 'application/octet-stream' in content,
    responses: new Map(responses),
  };
}

function headersOf(response: Node, follow: (node: Node) => Node): Map<string, Schema> {
  return new Map(Object.entries<Node>(response.headers ?? {}).map(([name, it]) => [name, follow(it).schema]));
}

function at(document: Node, ref: string): Node {
  return ref
    .slice(2)
    .split('/')
    .reduce((node, key) => node[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}
