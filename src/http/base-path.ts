/** The path of the public URL, if the server is not at the root of its host, for example `/poproom`. */

/** Empty at the root of the host. */
export function basePathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}

/** The path of an endpoint. A proxy may remove the base path or leave it in place, so both are accepted. */
export function withoutBasePath(path: string, basePath: string): string {
  if (basePath === '' || !path.startsWith(`${basePath}/`)) return path;
  const inner = path.slice(basePath.length);
  // A proxy that forwards the base path must not publish the metrics.
  return inner === '/metrics' ? path : inner;
}
