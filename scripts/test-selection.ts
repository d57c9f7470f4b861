/** Which tests run: the tiers, the files that a command names, and the processes that run them. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testModulesOf } from './test-imports.ts';
import type { Job } from './test-pool.ts';

/** Tests of modules that start no server, no other process and no browser. */
const unitFolders = ['client/crypto', 'core', 'metrics', 'protocol', 'text', 'web'];

/**
 * Tests of HTTP and the live channel that do not depend on the store, so one engine is enough: syntax, headers, documents
 * and timers. The suites in test/contract prove that the stores of both engines behave the same.
 */
const engineIndependent = new RegExp(
  `^test/(http/(${[
    'asyncapi',
    'bodies',
    'clients',
    'conformance',
    'cross-site',
    'disconnects',
    'docs-page',
    'errors',
    'held-bodies',
    'hostile-uploads',
    'links',
    'malformed-http',
    'openapi',
    'page',
    'pipelining',
    'plain-text',
    'sub-path',
    'timeouts',
    'tls',
    'tiny-chunks',
    'tus-protocol',
    'upgrades',
    'upload-names',
    'zip-format',
  ].join('|')})|live/(bounds|events|heartbeat|hostile|slow-readers))(\\.slow)?\\.test\\.ts$`,
);

/** A process takes almost a second to load the code, and three with a browser. Fewer would leave cores idle at the end. */
const filesPerProcess = 20;
/** Files that measure or change their process, or take long. */
const ownProcess =
  /^test\/(blobs|faults|hostile|nodes|package|redis|store|text)\/|^test\/process\/.*\.slow|^test\/http\/(disconnects|held-bodies|tiny-chunks)|slow-readers/;

/** `npm test` runs the fast tests, `npm run test:rest` all others, and `npm run test:all` both. */
export type Tier = 'unit' | 'fast' | 'rest' | 'all';

/** All tests of `x.slow.test.ts` are slow. */
export const isSlowFile = (file: string) => file.endsWith('.slow.test.ts');

/** Other files mark their slow tests by this word in the name. */
export const isSlowTest = (name: string) => name.includes('[slow]');

const testFiles = (folder = 'test') => globSync(`${folder}/**/*.test.ts`);

/** The slowest first, so that no long job runs alone at the end. */
export function jobsOfTier(tier: Tier): Job[] {
  return jobsIn[tier]().toSorted((a, b) => rankOf(a) - rankOf(b));
}

const jobsIn: Record<Tier, () => Job[]> = {
  unit: () => jobsOf(mixedFiles().filter(isUnitFile), 'embedded', 'fast'),
  fast: () => jobsOf(mixedFiles(), 'embedded', 'fast'),
  rest: () => [
    ...jobsOf(testFiles().filter(isSlowFile), 'embedded'),
    ...jobsOf(mixedFiles().filter(hasSlowTests), 'embedded', 'slow'),
    ...distributedJobs(),
  ],
  all: () => [...jobsOf(testFiles(), 'embedded'), ...distributedJobs()],
};

const mixedFiles = () => testFiles().filter((file) => !isSlowFile(file));
const isUnitFile = (file: string) => unitFolders.includes(dirname(file).slice('test/'.length));
const hasSlowTests = (file: string) =>
  [...testModulesOf(file)].some((module) => isSlowTest(readFileSync(module, 'utf8')));

function distributedJobs(): Job[] {
  const files = globSync('test/{http,live}/*.test.ts').filter((file) => !engineIndependent.test(file));
  return jobsOf(files, 'distributed');
}

/** Names are files, folders, or folders and files of test/: `test/store`, `core`, `http/pins`. Throws if one has no test. */
export function jobsOfNames(names: readonly string[], engine: Job['engine']): Job[] {
  return jobsOf([...new Set(names.flatMap(filesNamed))], engine);
}

function filesNamed(name: string): string[] {
  // The root has a folder named web, too.
  const inTests = ['', '.test.ts', '.slow.test.ts'].map((end) => join('test', name + end));
  const path = [...inTests, name].find((candidate) => existsSync(candidate));
  const files = path === undefined ? [] : statSync(path).isDirectory() ? testFiles(path) : [path];
  if (files.length === 0) throw new Error(`No tests are named ${name}.`);
  return files;
}

/** Groups files of the same folder, unless they measure or change their whole process. */
function jobsOf(files: readonly string[], engine: Job['engine'], tests: Job['tests'] = 'all'): Job[] {
  const byFolder = Object.groupBy(files.toSorted(), (file) => (ownProcess.test(file) ? file : dirname(file)));
  return Object.values(byFolder).flatMap((group = []) => {
    const processes = Math.ceil(group.length / filesPerProcess);
    const size = Math.ceil(group.length / processes);
    return Array.from({ length: processes }, (_, i) => ({
      files: group.slice(i * size, (i + 1) * size),
      engine,
      tests,
    }));
  });
}

function rankOf({ files: [file = ''] }: Job): number {
  const slow = ['hostile', 'nodes', 'page', 'faults', 'package', 'cli', 'client', 'process', 'live', 'http', 'store'];
  const index = slow.findIndex((folder) => file.startsWith(join('test', folder, '')));
  return index < 0 ? slow.length : index;
}

/** One of several equal parts, such as `2/4`. Dealt one by one, because jobs of the same folder cost about the same. */
export function shardOf(jobs: readonly Job[], shard: string): Job[] {
  const [, part = 0, parts = 0] = (/^(\d+)\/(\d+)$/.exec(shard) ?? []).map(Number);
  if (part < 1 || part > parts) throw new Error(`A shard looks like 2/4; this one is ${shard}.`);
  return jobs.filter((_, index) => index % parts === part - 1);
}
