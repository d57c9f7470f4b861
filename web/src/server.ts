/** The connection to the server that served this page. */
import { createTransport, PoproomError } from '../../src/client/light.ts';
import { baseUrl } from './base-path.ts';

export const transport = createTransport({
  url: baseUrl,
  apiKey: undefined,
  withRetry: (attempt) => attempt(),
});

/** The error of a failed request. Logs unexpected errors, so that bugs are not hidden. */
export function toPoproomError(error: unknown): PoproomError {
  if (error instanceof PoproomError) return error;
  console.error(error);
  return new PoproomError('INTERNAL', String(error));
}
