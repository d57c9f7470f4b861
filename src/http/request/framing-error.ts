/** Rejects requests that Node's parser accepts but that a proxy may interpret differently. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';

/** The reason to reject the request and to close its connection, if there is one. */
export function framingError({ httpVersion, url = '', headers }: IncomingMessage): PoproomError | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return invalid('This server supports HTTP/1.0 and HTTP/1.1 only.');
  if (host === undefined && httpVersion === '1.1') return invalid('The request has no Host header.', 'Host');
  // Node joins repeated headers with a comma.
  if (host?.includes(',')) return invalid('The request has more than one Host header.', 'Host');
  if (!url.startsWith('/')) return invalid('The request target must be a path.');
  return coding === undefined ? undefined : transferCodingError(coding, httpVersion);
}

function transferCodingError(coding: string, httpVersion: string): PoproomError | undefined {
  // HTTP/1.0 has no chunks, so a proxy between the client and us may have ignored them.
  if (httpVersion === '1.0') return invalid('HTTP/1.0 does not support Transfer-Encoding.', 'Transfer-Encoding');
  if (coding.toLowerCase() === 'chunked') return undefined;
  return invalid('The only supported Transfer-Encoding is chunked.', 'Transfer-Encoding');
}

function invalid(message: string, field?: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', message, field === undefined ? {} : { details: { field } });
}
