/** The URLs of this server: its base path, the links in responses, and its addresses in the local network. */
import type { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import { invalidField } from '../core/errors.ts';
import type { FileAddresses } from '../core/live-gateway.ts';
import { cameThroughProxy, header, type Request } from './request/request.ts';

/** The path of the public URL, for example `/poproom`; empty at the root of a host. */
export const basePathOf = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');

export interface ProxySettings {
  publicUrl: string | undefined;
  /** Whether the proxy removes the base path; undefined if the operator did not say so. */
  pathRemoved: boolean | undefined;
}

/** Says why the admin interface is not available below the base path, if so. */
export function hiddenAdmin(config: ProxySettings & { adminToken: string | undefined }): string | undefined {
  const { adminToken, publicUrl, pathRemoved } = config;
  if (!adminToken || pathRemoved !== undefined || basePathOf(publicUrl) === '') return undefined;
  return 'The admin interface is available only through a proxy that removes the path, because POPROOM_PATH_REMOVED is not set.';
}

export const pathRemovedFix =
  'Set POPROOM_PATH_REMOVED=true if the proxy removes the path of POPROOM_PUBLIC_URL, and =false if it forwards it.';

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
  throw invalidField('Host', 'The Host header is not a valid host name.');
}

/** The same for responses that can do without links: undefined if the Host is malformed. */
export function findOwnBase({ raw }: Pick<Request, 'raw'>, settings: LinkSettings): string | undefined {
  const { publicUrl, trustedProxies } = settings;
  if (publicUrl !== undefined) return publicUrl;
  const { host = '' } = raw.headers;
  if (!wellFormedHost.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const forwarded = cameThroughProxy(raw, trustedProxies) ? header(raw, 'x-forwarded-proto')?.toLowerCase() : undefined;
  const overTls = forwarded === undefined ? 'encrypted' in raw.socket : forwarded === 'https';
  return `${overTls ? 'https' : 'http'}://${host}`;
}

const wellFormedHost = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** The URLs for other devices in the local network of a server that listens on all interfaces. */
export function networkUrls({ host, tlsCert }: { host: string; tlsCert: string | undefined }, port: number): string[] {
  if (host !== '0.0.0.0' && host !== '::') return [];
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => `${tlsCert ? 'https' : 'http'}://${address}:${port}`);
}
