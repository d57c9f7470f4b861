/** What Node's parser lets through and a proxy before us may read in another way: we do not guess who is right. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';

/** Why a request goes no further, and its connection with it. */
export function framingError({ httpVersion, url = '', headers }: IncomingMessage): PoproomError | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return flaw('This server speaks HTTP/1.1.');
  if (host === undefined && httpVersion === '1.1') return flaw('The request has no Host header.', 'Host');
  // The server joins what is sent twice.
  if (host?.includes(',')) return flaw('The request has more than one Host.', 'Host');
  if (!url.startsWith('/')) return flaw('The target of the request is not a path.');
  return coding === undefined ? undefined : codingFlaw(coding, httpVersion);
}

function codingFlaw(coding: string, httpVersion: string): PoproomError | undefined {
  // There were no chunks before HTTP/1.1: what stands between us and the client may not have seen any.
  if (httpVersion === '1.0') return flaw('HTTP/1.0 has no Transfer-Encoding.', 'Transfer-Encoding');
  if (coding.toLowerCase() === 'chunked') return undefined;
  return flaw('Bodies are taken as they are or in chunks, and not coded besides.', 'Transfer-Encoding');
}

function flaw(message: string, field?: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', message, field === undefined ? {} : { details: { field } });
}
