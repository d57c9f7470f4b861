/** Builds the service worker, with the list of files that it caches for offline use. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

/** `folder` holds the page that it goes with. */
export async function buildServiceWorker(root: string, folder: string): Promise<void> {
  const files = ['index.html', ...globSync('assets/*', { cwd: folder }).sort()].filter(isOfShell);
  const contents = files.map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
  const shell = contents.filter(({ name, bytes }) => !isLargeIcon(bytes) && !languageOf.test(name));
  await build({
    configFile: false,
    root: join(root, 'web'),
    publicDir: false,
    logLevel: 'warn',
    define: {
      __SHELL__: JSON.stringify(shell.map(({ name }) => (name === 'index.html' ? '/' : `/${name}`))),
      __LANGUAGES__: JSON.stringify(languageFiles(files)),
      __VERSION__: JSON.stringify(versionOf(shell)),
    },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'baseline-widely-available',
      rolldownOptions: {
        input: join(root, 'web/src/service-worker.ts'),
        // A name that stays: a browser looks for the next version under the address of this one.
        output: { format: 'iife', entryFileNames: 'assets/service-worker.js' },
      },
    },
  });
}

interface Content {
  name: string;
  bytes: Buffer;
}

/** The strings of a language other than English. */
const languageOf = /^assets\/([a-z]{2})\.[0-9a-f]{12}\.js$/;

/** By language code. */
function languageFiles(files: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    files.flatMap((name) => {
      const language = languageOf.exec(name)?.[1];
      return language ? [[language, `/${name}`]] : [];
    }),
  );
}

const isOfShell = (name: string) => !/\.(map|ico)$|^assets\/licenses\.md$/.test(name);

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');
const widthAt = 16;

/** Used only by splash screens and app stores. */
function isLargeIcon(bytes: Buffer): boolean {
  return bytes.subarray(0, 8).equals(pngSignature) && bytes.readUInt32BE(widthAt) > 192;
}

/** Changes with any name and any content. */
function versionOf(files: readonly Content[]): string {
  const hash = createHash('sha256');
  for (const { name, bytes } of files) hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  return hash.digest('hex').slice(0, 12);
}
