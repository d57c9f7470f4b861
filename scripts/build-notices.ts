/** The licence notices of bundled libraries, and of everything in the executable: the libraries and Node. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** `written` is what Vite wrote of the libraries of the command, and of those of the page. */
export async function noticesFor(written: string[]): Promise<string> {
  const libraries = await Promise.all(written.map((path) => readFile(path, 'utf8')));
  return [...libraries, `## Node.js - ${process.versions.node}`, await nodeLicense()].map(trimmed).join('\n\n');
}

/** For the command and the SDK in dist/; the page has its own. Libraries in node_modules bring theirs along. */
export async function writeLicenses(root: string, modules: readonly string[]): Promise<void> {
  await writeFile(join(root, 'dist/licenses.md'), await licensesOf(modules));
}

/** Of the libraries that these modules belong to. */
export async function licensesOf(modules: readonly string[]): Promise<string> {
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const notices = [...new Set(folders)].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const [file] = (await readdir(folder)).filter((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence file.`);
    return `## ${name} - ${version} (${license})\n\n${trimmed(await readFile(join(folder, file), 'utf8'))}`;
  });
  return `# Licences of bundled libraries\n\n${(await Promise.all(notices)).join('\n\n')}\n`;
}

const trimmed = (text: string) => text.trim();

/** Node's archives have it above the folder of the program, or beside it; its npm package has none. */
async function nodeLicense(): Promise<string> {
  const folder = dirname(process.execPath);
  for (const place of [join(folder, '../LICENSE'), join(folder, 'LICENSE')]) {
    const text = await readFile(place, 'utf8').catch(() => '');
    if (text.startsWith('Node.js is licensed')) return text;
  }
  return `Its licence is that of https://github.com/nodejs/node/blob/${process.version}/LICENSE.`;
}
