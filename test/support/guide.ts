/** The examples of a page, and a place to run them as written. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCli, type Running } from './cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Block {
  /** Such as `sh` or `js`. */
  language: string;
  text: string;
}

export interface Section {
  heading: string;
  /** Of the comment `<!-- name -->` beneath the heading. */
  name: string | undefined;
  text: string;
  blocks: Block[];
}

/** Cut at its headings. */
export function readGuide(path: string): Section[] {
  const page = readFileSync(join(root, path), 'utf8');
  return page.split(/^(?=##+ )/m).map((text) => ({
    heading: /^##+ (.*)/.exec(text)?.[1] ?? '',
    name: /^<!-- (\w+) -->$/m.exec(text)?.[1],
    text,
    blocks: [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text })),
  }));
}

/** Those that stand beneath a comment `<!-- name -->`, by their names. */
export function readExamples(path: string, language: string): Record<string, string> {
  const page = readFileSync(join(root, path), 'utf8');
  const found = [...page.matchAll(/^<!-- (\w+) -->\n\n```(\w+)\n(.*?)^```$/gms)];
  const named = found.flatMap(([, name = '', its, text = '']) => (its === language ? [[name, text] as const] : []));
  const all = page.split(`\n\`\`\`${language}\n`).length - 1;
  assert.ok(named.length === all || language === 'sh', `${path} has ${all - named.length} examples without a name`);
  return Object.fromEntries(named);
}

/** Example values and what they stand for here. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((filled, [example, value]) => filled.replaceAll(example, value), text);
}

export interface Workplace {
  readonly folder: string;
  /** Lines for a shell, which has the built `poproom`. */
  shell(lines: string): Running;
  /** A module, in whatever of JavaScript and TypeScript its name says; the SDK is installed as npm does it. */
  module(name: string, code: string): Promise<Running>;
}

/** Where readers try things out, each in a folder of their own. */
export async function createWorkplaces(t: TestContext) {
  const cli = await createCli(t);
  await mkdir(join(cli.home, 'node_modules'));
  await symlink(root, join(cli.home, 'node_modules/poproom'));
  await writeFile(join(cli.home, '.curlrc'), curlSettings);
  await writeFile(join(cli.home, 'console.mjs'), consoleInJson);
  await writeFile(join(cli.home, 'one-by-one.mjs'), oneByOne);

  async function createWorkplace(files: Readonly<Record<string, string>> = {}): Promise<Workplace> {
    const folder = await mkdtemp(join(cli.home, 'reader-'));
    const put = (name: string, text: string) => writeFile(join(folder, name), text);
    for (const [name, text] of Object.entries(files)) await put(name, text);
    return {
      folder,
      shell: (lines) => cli.shell(lines, { cwd: folder }),
      async module(name, code) {
        await put(name, code);
        return cli.shell(`exec "${process.execPath}" --import ../console.mjs ${name}`, { cwd: folder });
      },
    };
  }

  return {
    createWorkplace,
    /** What each of these modules prints, run in its folder, one after the other: quicker than a process for each. */
    async modules(programs: readonly Program[]): Promise<unknown[][][]> {
      const files = programs.map(({ folder, name }) => join(folder, name));
      for (const [i, file] of files.entries()) await writeFile(file, programs[i]?.code ?? '');
      const node = cli.shell(`exec "${process.execPath}" one-by-one.mjs ${files.join(' ')}`);
      return printed(await endedWell(node)) as unknown[][][];
    },
  };
}

export interface Program {
  folder: string;
  name: string;
  code: string;
}

const oneByOne = `
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

export async function endedWell(running: Running): Promise<string> {
  const { code, stdout, stderr } = await running.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout + stderr);
  return stdout;
}

/** So that a command that is run unchanged tells the status too. */
const curlSettings = 'silent\nshow-error\nwrite-out = "\\n%{http_code}\\n"\n';

export interface CurlAnswer {
  status: number;
  body: string;
}

export function curlAnswers(stdout: string): CurlAnswer[] {
  return [...stdout.matchAll(/(.*?)\n(\d{3})\n/gs)].map(([, body = '', status]) => ({ body, status: Number(status) }));
}

/** So that what is printed can be read as values. */
const consoleInJson = `console.log = (...values) => process.stdout.write(JSON.stringify(values) + '\\n');\n`;

export function printed(stdout: string): unknown[][] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
