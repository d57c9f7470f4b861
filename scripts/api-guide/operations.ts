/** The operations of the OpenAPI document, as the API guide needs them. Limits are written as `{{textSize}}`. */
import { type Operation, type Response, resolveRef } from '../openapi/document.ts';
import { openapiTemplate } from '../openapi/index.ts';
import { snippets } from './snippets.ts';

export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

export type StatusResponse = Response & { status: string };

export const document = openapiTemplate();

const endpoints: Endpoint[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const isApiEndpoint = ({ operation }: Endpoint) => operation.operationId in snippets;
export const apiEndpoints = endpoints.filter(isApiEndpoint);
export const pageEndpoints = endpoints.filter((endpoint) => !isApiEndpoint(endpoint));

export function responsesOf({ responses }: Operation): StatusResponse[] {
  return Object.entries(responses).map(([status, response]) => ({ status, ...resolveRef(document, response) }));
}

export function errorsOf(operation: Operation): string[] {
  return responsesOf(operation).flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}));
}

/** Formats codes as `404 NOT_FOUND`. */
export function listErrors(codes: readonly string[]): string {
  return codes.map((code) => `\`${document.components.examples[code]?.['x-status']} ${code}\``).join(', ');
}

export const isOnEveryResponse = (header: string) => /^(X-)?RateLimit|^X-Request-Id$/.test(header);
