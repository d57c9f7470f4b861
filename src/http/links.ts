/** The addresses that we tell clients. */
import type { BlockList } from 'node:net';
import { PoproomError } from '../core/errors.ts';
import type { StoredFile } from '../core/ports.ts';
import { cameThroughProxy } from './client-address.ts';
import { header, type Request } from './request.ts';

export interface LinkSettings {
  publicUrl: string | undefined;
  filesUrl: string | undefined;
  trustedProxies: BlockList;
}

export type FileLink = (file: StoredFile) => string;

/** Made before any work, so that a Host that no link can be built from is refused with nothing stored. */
export function fileLinks(request: Pick<Request, 'raw'>, settings: LinkSettings): FileLink {
  const base = filesBase(request, settings);
  return ({ id, name }) => `${base}/${id}/${encodeURIComponent(name)}`;
}

/** What the address of every file begins with. */
export function filesBase(request: Pick<Request, 'raw'>, settings: LinkSettings): string {
  return settings.filesUrl ?? `${settings.publicUrl ?? ownAddress(request, settings.trustedProxies)}/files`;
}

function ownAddress({ raw }: Pick<Request, 'raw'>, proxies: BlockList): string {
  const [host = '', another] = raw.headersDistinct.host ?? [];
  if (another !== undefined || !wellFormedHost.test(host) || !URL.canParse(`http://${host}`)) {
    throw new PoproomError('VALIDATION_FAILED', 'The Host header is not the name of a host.', {
      details: { field: 'Host' },
    });
  }
  const overTls = cameThroughProxy(raw, proxies) && header(raw, 'x-forwarded-proto')?.toLowerCase() === 'https';
  return `${overTls ? 'https' : 'http'}://${host}`;
}

const wellFormedHost = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
