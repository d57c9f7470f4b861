/** The operations of the OpenAPI document, as the API guide needs them. Limits are written as `{{textSize}}`. */
import { follow, type Operation, type Response } from '../openapi/document.ts';
import { openapiTemplate } from '../openapi/index.ts';
import { snippets } from './snippets.ts';

export interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

export type Answer = Response & { status: string };

export const document = openapiTemplate();

const entries: Entry[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const isForPrograms = ({ operation }: Entry) => operation.operationId in snippets;
export const forPrograms = entries.filter(isForPrograms);
export const forBrowsers = entries.filter((entry) => !isForPrograms(entry));

export function answersOf({ responses }: Operation): Answer[] {
  return Object.entries(responses).map(([status, response]) => ({ status, ...follow(document, response) }));
}

export function errorsOf(operation: Operation): string[] {
  return answersOf(operation).flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}));
}

/** As `404 NOT_FOUND`. */
export function listErrors(codes: readonly string[]): string {
  return codes.map((code) => `\`${document.components.examples[code]?.['x-status']} ${code}\``).join(', ');
}

export const isOnEveryResponse = (header: string) => /^(X-)?RateLimit|^X-Request-Id$/.test(header);
