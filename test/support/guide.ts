/** Reads the examples of a documentation page, and runs them unchanged. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CliProcess, createCli } from './cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface CodeBlock {
  /** Such as `sh` or `js`. */
  language: string;
  text: string;
}

export interface Section {
  heading: string;
  /** From the comment `<!-- name -->` below the heading. */
  name: string | undefined;
  text: string;
  blocks: CodeBlock[];
}

/** Splits a page at its headings. */
export function readGuide(path: string): Section[] {
  const page = readFileSync(join(root, path), 'utf8');
  return page.split(/^(?=##+ )/m).map((text) => ({
    heading: /^##+ (.*)/.exec(text)?.[1] ?? '',
    name: /^<!-- (\w+) -->$/m.exec(text)?.[1],
    text,
    blocks: [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text })),
  }));
}

/** The examples below a comment `<!-- name -->`, by name. */
export function readExamples(path: string, language: string): Record<string, string> {
  const page = readFileSync(join(root, path), 'utf8');
  const found = [...page.matchAll(/^<!-- (\w+) -->\n\n```(\w+)\n(.*?)^```$/gms)];
  const named = found.flatMap(([, name = '', its, text = '']) => (its === language ? [[name, text] as const] : []));
  const all = page.split(`\n\`\`\`${language}\n`).length - 1;
  assert.ok(named.length === all || language === 'sh', `${path} has ${all - named.length} examples without a name`);
  return Object.fromEntries(named);
}

/** Replaces the values in an example by those of the test. */
export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((filled, [example, value]) => filled.replaceAll(example, value), text);
}

export interface ExampleFolder {
  readonly path: string;
  /** Runs lines in a shell that has the built `poproom`. */
  shell(lines: string): CliProcess;
  /** Runs a module, as JavaScript or TypeScript depending on its name. The SDK is installed as by npm. */
  module(name: string, code: string): Promise<CliProcess>;
}

/** Runs examples, each in its own folder. */
export async function createExampleRunner(t: TestContext) {
  const cli = await createCli(t);
  await mkdir(join(cli.home, 'node_modules'));
  await symlink(root, join(cli.home, 'node_modules/poproom'));
  await installClient(join(cli.home, 'node_modules/@poproom/client'));
  await writeFile(join(cli.home, '.curlrc'), curlSettings);
  await writeFile(join(cli.home, 'console.mjs'), jsonConsole);
  await writeFile(join(cli.home, 'sequential.mjs'), runSequentially);

  async function createFolder(files: Readonly<Record<string, string>> = {}): Promise<ExampleFolder> {
    const path = await mkdtemp(join(cli.home, 'reader-'));
    const put = (name: string, text: string) => writeFile(join(path, name), text);
    for (const [name, text] of Object.entries(files)) await put(name, text);
    return {
      path,
      shell: (lines) => cli.shell(lines, { cwd: path }),
      async module(name, code) {
        await put(name, code);
        return cli.shell(`exec "${process.execPath}" --import ../console.mjs ${name}`, { cwd: path });
      },
    };
  }

  return {
    createFolder,
    /** Runs modules sequentially in one process, which is faster than one process each. Returns the output of each. */
    async modules(programs: readonly ExampleModule[]): Promise<unknown[][][]> {
      const files = programs.map(({ folder, name }) => join(folder, name));
      for (const [i, file] of files.entries()) await writeFile(file, programs[i]?.code ?? '');
      const node = cli.shell(`exec "${process.execPath}" sequential.mjs ${files.join(' ')}`);
      return parseJsonLines(await successOutput(node)) as unknown[][][];
    },
  };
}

/** The package of the SDK, with the built files of this checkout. */
async function installClient(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(join(root, 'packages/client/package.json'), join(folder, 'package.json'));
  await symlink(join(root, 'dist'), join(folder, 'dist'));
}

export interface ExampleModule {
  folder: string;
  name: string;
  code: string;
}

const runSequentially = `
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) {
  const lines = [];
  console.log = (...values) => lines.push(values);
  process.chdir(dirname(file));
  await import(pathToFileURL(file));
  process.stdout.write(JSON.stringify(lines) + '\\n');
}
`;

export async function successOutput(running: CliProcess): Promise<string> {
  const { code, stdout, stderr } = await running.result;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout + stderr);
  return stdout;
}

/** Makes an unchanged curl command print the status too. */
const curlSettings = 'silent\nshow-error\nwrite-out = "\\n%{http_code}\\n"\n';

export interface CurlResponse {
  status: number;
  body: string;
}

export function parseCurlOutput(stdout: string): CurlResponse[] {
  return [...stdout.matchAll(/(.*?)\n(\d{3})\n/gs)].map(([, body = '', status]) => ({ body, status: Number(status) }));
}

/** Prints values as JSON, so that the test can parse them. */
const jsonConsole = `console.log = (...values) => process.stdout.write(JSON.stringify(values) + '\\n');\n`;

export function parseJsonLines(stdout: string): unknown[][] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
