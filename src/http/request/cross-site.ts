/** Requests that a page of another site makes its visitor's browser send: they must not cost the visitor much. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';

export interface OwnOrigins {
  publicUrl: string | undefined;
  /** Origins that the operator trusts as the server's own. */
  allowedOrigins: readonly string[];
}

/**
 * `cross-site-no-cors` is what any page may send without asking: images, forms, frames, beacons. Browsers mark it over
 * HTTPS and on localhost; over plain HTTP it cannot be told from the request of a program.
 */
export type RequestSource = 'own' | 'cross-site' | 'cross-site-no-cors';

export function sourceOf(raw: IncomingMessage, own: OwnOrigins): RequestSource {
  const { origin, 'sec-fetch-site': site } = raw.headers;
  if (site === undefined) return isForeignOrigin(raw, own) ? 'cross-site' : 'own';
  if (site !== 'cross-site' || (origin !== undefined && own.allowedOrigins.includes(origin))) return 'own';
  const mode = raw.headers['sec-fetch-mode'];
  return mode === 'cors' || mode === 'websocket' ? 'cross-site' : 'cross-site-no-cors';
}

/** Browsers name the origin of every WebSocket, of every CORS request and of all that is not GET or HEAD. */
export function isForeignOrigin({ headers }: IncomingMessage, { publicUrl, allowedOrigins }: OwnOrigins): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowedOrigins.includes(origin)) return false;
  const itsHost = URL.parse(origin)?.host;
  return !itsHost || (itsHost !== host && (!publicUrl || itsHost !== new URL(publicUrl).host));
}

export function crossSiteRefused(): PoproomError {
  return new PoproomError('VALIDATION_FAILED', 'Pages of other sites may use the API only by CORS requests.', {
    details: { field: 'Sec-Fetch-Site' },
  });
}
