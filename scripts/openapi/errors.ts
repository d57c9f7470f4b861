/** Errors in the OpenAPI document: an example for each code, a response for each set of codes with one status. */

import { statusOf } from '../../src/http/response/reply.ts';
import type { Endpoint } from '../../src/protocol/endpoints/endpoint.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { type ErrorCode, errorCodes } from '../../src/protocol/error-codes.ts';
import { errorBody } from '../../src/protocol/schemas.ts';
import type { Example, Ref, Response } from './document.ts';
import { errorExamples } from './error-examples.ts';
import { headersOf } from './headers.ts';
import { exampleOf, refer } from './schemas.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

/** No operation returns the others. */
const possible = codes.filter((code) => Object.values<Endpoint>(endpoints).some(({ errors }) => errors.includes(code)));

export function errorExampleComponents(): Record<string, Example> {
  const requestId = exampleOf(errorBody.properties.requestId);
  return Object.fromEntries(
    possible.map((code) => {
      const value = { success: false, error: { code, ...errorExamples[code] }, requestId };
      return [code, { summary: errorCodes[code][1], value, 'x-status': statusOf(code) }];
    }),
  );
}

export function errorResponseComponents(): Record<string, Response> {
  const sets = Object.values(endpoints).flatMap((endpoint) => codesByStatus(endpoint));
  return Object.fromEntries(sets.map((set) => [nameOf(set), responseOf(set)]));
}

/** References to the responses above, by status. */
export function errorResponses(endpoint: Endpoint): Record<string, Ref> {
  const sets = codesByStatus(endpoint);
  return Object.fromEntries(
    sets.map((set) => [String(statusOf(set[0] as ErrorCode)), { $ref: `#/components/responses/${nameOf(set)}` }]),
  );
}

function codesByStatus({ errors }: Endpoint): ErrorCode[][] {
  const inOrder = codes.filter((code) => errors.includes(code));
  return Object.values(Object.groupBy(inOrder, statusOf)).filter((set) => set !== undefined);
}

/** `PinIncorrect`, or `RateLimitedOrPinLocked` if both share a status. */
function nameOf(set: readonly ErrorCode[]): string {
  return set.map((code) => code.toLowerCase().replace(/(?:^|_)(.)/g, (_, first) => first.toUpperCase())).join('Or');
}

function responseOf(set: ErrorCode[]): Response {
  return {
    description: set.map((code) => `\`${code}\`: ${errorCodes[code][1]}`).join(' '),
    headers: headersOf(ownHeaders[statusOf(set[0] as ErrorCode)] ?? (set.every(isTemporary) ? ['Retry-After'] : [])),
    content: {
      'application/json': {
        schema: refer(errorBody),
        examples: Object.fromEntries(set.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** Of the conflicts, only these end without the client. */
const isTemporary = (code: ErrorCode) => code === 'FILE_CLAIMED' || code === 'REQUEST_IN_PROGRESS';

const ownHeaders: Record<number, readonly string[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};
