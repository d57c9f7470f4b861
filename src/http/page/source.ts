/** Reads the built page from a folder or from the executable. */

/** All files by path, for example `index.html` or `assets/icon.svg`; empty if the page was not built. */
export type PageSource = () => Promise<ReadonlyMap<string, Uint8Array>>;

export const pageInFolder =
  (folder: URL): PageSource =>
  async () => {
    try {
      return await readFolder(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
      throw error;
    }
  };

async function readFolder(folder: URL): Promise<Map<string, Uint8Array>> {
  const { readdir, readFile } = process.getBuiltinModule('node:fs/promises');
  const [pages, assets] = await Promise.all([readdir(folder), readdir(new URL('assets/', folder))]);
  const paths = [...pages.filter((name) => name.endsWith('.html')), ...assets.map((name) => `assets/${name}`)];
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(new URL(path, folder))] as const)));
}

/** The prefix that scripts/build-binary.ts uses. */
const embedded = 'web/';

export const pageInExecutable: PageSource = async () => {
  const { getAssetKeys, getRawAsset } = process.getBuiltinModule('node:sea');
  const keys = getAssetKeys().filter((key) => key.startsWith(embedded));
  // Not copied: the bytes stay in the memory of the executable.
  return new Map(keys.map((key) => [key.slice(embedded.length), new Uint8Array(getRawAsset(key) as ArrayBuffer)]));
};
