/** Where the built page lies: in a folder, or inside the executable that it was made a part of. */

/** All its files by their paths, such as `assets/icon.svg`; none where the page was not built. */
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
  const assets = await readdir(new URL('assets/', folder));
  const paths = ['index.html', ...assets.map((name) => `assets/${name}`)];
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(new URL(path, folder))] as const)));
}

/** As scripts/build-binary.ts names them. */
const embedded = 'web/';

export const pageInExecutable: PageSource = async () => {
  const { getAssetKeys, getRawAsset } = process.getBuiltinModule('node:sea');
  const keys = getAssetKeys().filter((key) => key.startsWith(embedded));
  // Not copied: the bytes stay where the executable has them.
  return new Map(keys.map((key) => [key.slice(embedded.length), new Uint8Array(getRawAsset(key) as ArrayBuffer)]));
};
