/** The URLs in responses. */
import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { PoproomError } from '../../core/errors.ts';
import type { FileAddresses } from '../../core/live-gateway.ts';
import { cameThroughProxy } from '../request/client-address.ts';
import { header, type Request } from '../request/request.ts';

export interface LinkSettings {
  publicUrl: string | undefined;
  filesUrl: string | undefined;
  trustedProxies: BlockList;
}

/** Call this before any work, so that a request with an invalid Host is rejected before anything is stored. */
export function fileAddresses({ raw }: Pick<Request, 'raw'>, settings: LinkSettings): FileAddresses {
  const linkBase = settings.filesUrl ?? `${ownBase({ raw }, settings)}/files`;
  return { linkBase, linkTo: ({ id, name }) => `${linkBase}/${id}/${encodeURIComponent(name)}` };
}

/** The URL of this server as the client reaches it. */
export function ownBase(request: Pick<Request, 'raw'>, settings: LinkSettings): string {
  const base = findOwnBase(request, settings);
  if (base !== undefined) return base;
  throw new PoproomError('VALIDATION_FAILED', 'The Host header is not a valid host name.', {
    details: { field: 'Host' },
  });
}

/** The same for responses that can do without links: undefined if the Host is malformed. */
export function findOwnBase({ raw }: Pick<Request, 'raw'>, settings: LinkSettings): string | undefined {
  return settings.publicUrl ?? ownAddress(raw, settings.trustedProxies);
}

function ownAddress(raw: IncomingMessage, proxies: BlockList): string | undefined {
  const { host = '' } = raw.headers;
  if (!wellFormedHost.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const forwarded = cameThroughProxy(raw, proxies) ? header(raw, 'x-forwarded-proto')?.toLowerCase() : undefined;
  const overTls = forwarded === undefined ? 'encrypted' in raw.socket : forwarded === 'https';
  return `${overTls ? 'https' : 'http'}://${host}`;
}

const wellFormedHost = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
