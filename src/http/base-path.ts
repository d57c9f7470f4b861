/** The path of the public URL, if the server is not at the root of its host, for example `/poproom`. */

/** Empty at the root of the host. */
export function basePathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}

/** The path of an endpoint, from that of a request. */
export type EndpointPath = (path: string) => string;

export interface ProxySettings {
  publicUrl: string | undefined;
  /** Whether the proxy removes the base path; undefined if the operator did not say so. */
  pathRemoved: boolean | undefined;
}

/**
 * A proxy may remove the base path or leave it in place, so both are accepted. If the proxy removes it, a client can
 * send it twice, and evade what the proxy says about a path.
 */
export function endpointPathOf({ publicUrl, pathRemoved }: ProxySettings): EndpointPath {
  const basePath = basePathOf(publicUrl);
  const reserved = pathRemoved === undefined ? operatorsOnly : metrics;
  return (path) => {
    if (basePath === '' || pathRemoved || !path.startsWith(`${basePath}/`)) return path;
    const inner = path.slice(basePath.length);
    return reserved.test(inner) ? path : inner;
  };
}

/** A proxy that forwards the base path must not publish the metrics. */
const metrics = /^\/metrics$/;
const operatorsOnly = /^\/(metrics$|(api\/)?admin(\/|$))/;

/** Says why the admin interface is not available below the base path, if so. */
export function hiddenAdmin(config: ProxySettings & { adminToken: string | undefined }): string | undefined {
  const { adminToken, publicUrl, pathRemoved } = config;
  if (!adminToken || pathRemoved !== undefined || basePathOf(publicUrl) === '') return undefined;
  return 'The admin interface is available only through a proxy that removes the path, because POPROOM_PATH_REMOVED is not set.';
}

export const pathRemovedFix =
  'Set POPROOM_PATH_REMOVED=true if the proxy removes the path of POPROOM_PUBLIC_URL, and =false if it forwards it.';
