/** Cross-site requests, which must not use up the misses and PIN attempts of the visitor whose browser sends them. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';

export interface OwnOrigins {
  publicUrl: string | undefined;
  /** Origins that the operator trusts as the server's own. */
  allowedOrigins: readonly string[];
}

/**
 * `cross-site-no-cors` stands for images, forms, frames and beacons, which any page may send. Browsers mark them over
 * HTTPS and on localhost. Over plain HTTP they look like requests of a program.
 */
export type RequestSource = 'own' | 'cross-site' | 'cross-site-no-cors';

export function sourceOf(raw: IncomingMessage, own: OwnOrigins): RequestSource {
  const { origin, 'sec-fetch-site': site } = raw.headers;
  if (site === undefined) return isForeignOrigin(raw, own) ? 'cross-site' : 'own';
  if (site !== 'cross-site' || (origin !== undefined && own.allowedOrigins.includes(origin))) return 'own';
  const mode = raw.headers['sec-fetch-mode'];
  return mode === 'cors' || mode === 'websocket' ? 'cross-site' : 'cross-site-no-cors';
}

/** Browsers send Origin with every WebSocket, every CORS request and every method except GET and HEAD. */
export function isForeignOrigin({ headers }: IncomingMessage, { publicUrl, allowedOrigins }: OwnOrigins): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowedOrigins.includes(origin)) return false;
  const itsHost = URL.parse(origin)?.host;
  return !itsHost || (itsHost !== host && (!publicUrl || itsHost !== new URL(publicUrl).host));
}

/** The refusal of a live channel. */
export function foreignOrigin(): PoproomError {
  return new PoproomError('ORIGIN_NOT_ALLOWED', 'Pages of this origin may not open live channels on this server.', {
    details: { field: 'Origin' },
  });
}

/** Forms can send these types without the permission of the server, and over plain HTTP browsers do not mark them. */
export function refuseForeignForm(raw: IncomingMessage, isCrossSite: boolean): void {
  if (isCrossSite && raw.headers['sec-fetch-mode'] !== 'cors') throw crossSiteRefused();
}

export function crossSiteRefused(): PoproomError {
  return new PoproomError('VALIDATION_FAILED', 'Pages of other sites must use CORS requests to call the API.', {
    details: { field: 'Sec-Fetch-Site' },
  });
}
