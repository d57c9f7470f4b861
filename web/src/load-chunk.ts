/** Loads a chunk together with its styles. The build uses it for every `import()`, instead of the longer one of Vite. */

const styles = new Map<string, Promise<unknown>>();

/** The build calls it by this name, with the paths of the styles. All of them are in the folder of this script. */
export async function __vitePreload<Module>(load: () => Promise<Module>, paths: readonly string[] = []) {
  const [module] = await Promise.all([load(), ...paths.map(loadStyle)]);
  return module;
}

function loadStyle(path: string): Promise<unknown> {
  const { href } = new URL(path.replace(/.*\//, ''), import.meta.url);
  const loading = styles.get(href) ?? addLink(href);
  styles.set(href, loading);
  return loading;
}

/** The page may have it from its HTML. */
async function addLink(href: string): Promise<void> {
  if ([...document.querySelectorAll('link')].some((link) => link.href === href)) return;
  const link = document.createElement('link');
  const loaded = new Promise((resolve, reject) => {
    Object.assign(link, { rel: 'stylesheet', crossOrigin: '', href, onload: resolve, onerror: reject });
  });
  document.head.append(link);
  await loaded.catch(() => {
    // The next call retries.
    styles.delete(href);
    link.remove();
    throw new Error(`${href} could not be loaded.`);
  });
}
