/** Compares another revision with this one, alternating within one run. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareRounds, type LoadRounds, type Target } from './load.ts';
import { median } from './processes.ts';
import { type AccessKind, accessTarget } from './rows/access.ts';
import { broadcast, type Group, roomGroup } from './rows/broadcast.ts';
import { transfer, type Uploader, uploaderTo } from './rows/files.ts';
import { contentPaths, type Replacement, replacements, targetOf, textBody } from './rows/requests.ts';
import { idleMemory, startWarm, timeToStart } from './rows/start.ts';
import { type TypistGroup, typeInTurns, typistGroup } from './rows/text.ts';
import { repositoryRoot, type Server, startPoproom } from './servers.ts';

const rounds = 15;
/** There are many of these rows. */
const replacementRounds = 7;

/** By row name. The other rows would take too long for this many rounds. */
export const comparisons: Record<string, (other: string) => Promise<void>> = {
  read: (other) => compareLoad('reading, CPU per request', other),
  'pin-read': (other) => compareReading('reading with a PIN, CPU per request', other, 'pin'),
  'key-read': (other) => compareReading('reading with an API key, CPU per request', other, 'key'),
  'sealed-read': (other) => compareReading('reading an encrypted room, CPU per request', other, 'sealed'),
  write: (other) => compareLoad('writing the same text, CPU per request', other, [textBody]),
  replace: compareReplacements,
  files: compareTransfers,
  broadcast: compareBroadcasts,
  typists: compareTypists,
  start: compareStarts,
  rest: compareMemory,
};

export async function compareRevisions(revision: string, names: readonly string[]): Promise<void> {
  const other = checkOut(revision);
  try {
    console.log(
      `\n| work | ${revision} | this | this / ${revision} | 95 % between | verdict |\n|---|---|---|---|---|---|`,
    );
    for (const name of names) await comparisons[name]?.(other);
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', other], { cwd: repositoryRoot });
    rmSync(other, { recursive: true, force: true });
  }
}

/** Uses node_modules of this checkout if both have the same lockfile. */
function checkOut(revision: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'poproom-compare-')), 'poproom');
  execFileSync('git', ['worktree', 'add', '--detach', folder, revision], { cwd: repositoryRoot, stdio: 'ignore' });
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(repositoryRoot))
    symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  execFileSync(process.execPath, [join(folder, 'scripts/build.ts')], { cwd: folder, stdio: 'ignore' });
  if (!existsSync(join(folder, 'dist/main.js'))) throw new Error(`The build of ${revision} has no dist/main.js.`);
  return folder;
}

async function withBothServers(other: string, work: (servers: Server[]) => Promise<void>): Promise<void> {
  const servers = [await startPoproom({ root: other, port: 18_080 }), await startPoproom({ port: 18_081 })];
  try {
    await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function compareLoad(work: string, other: string, bodies?: string[]): Promise<void> {
  const target = async (server: Server) => targetOf('', server, await contentPaths(server, 64), bodies);
  return compareTargets(work, other, target);
}

const compareReading = (work: string, other: string, kind: AccessKind) =>
  compareTargets(work, other, (server) => accessTarget(kind, server));

function compareTargets(work: string, other: string, targetOn: (server: Server) => Promise<Target>): Promise<void> {
  return withBothServers(other, async (servers) => {
    const targets: Target[] = [];
    for (const server of servers) targets.push(await targetOn(server));
    const [theirs, own] = compareRounds(targets, rounds);
    printRow(work, theirs?.cpu, own?.cpu, 'µs');
  });
}

/** Each row has its own servers, because rooms with long texts slow down later rows. */
async function compareReplacements(other: string): Promise<void> {
  for (const replacement of replacements) await withBothServers(other, (both) => compareReplacement(replacement, both));
}

async function compareReplacement(replacement: Replacement, servers: Server[]): Promise<void> {
  const { work, bodies, rooms, history, connections } = replacement;
  const targets: Target[] = [];
  for (const [index, server] of servers.entries()) {
    // The other revision may not know the option.
    const options = history || index === 0 ? {} : { history };
    targets.push({ ...targetOf('', server, await contentPaths(server, rooms, options), bodies), connections });
  }
  const [theirs, own] = compareRounds(targets, replacementRounds);
  printRow(`${work}, CPU`, theirs?.cpu, own?.cpu, 'µs');
  const times = (all?: LoadRounds) => all?.perSecond.map((perSecond) => 1e6 / perSecond);
  printRow(`${work}, time`, times(theirs), times(own), 'µs');
}

function compareTransfers(other: string): Promise<void> {
  return withBothServers(other, async (servers) => {
    const uploaders: Uploader[] = [];
    for (const server of servers) uploaders.push(await uploaderTo(server));
    const { up, down } = await transfer(uploaders, rounds);
    printRow('uploads, CPU per megabyte', up[0]?.cpu, up[1]?.cpu, 'µs');
    printRow('downloads, CPU per megabyte', down[0]?.cpu, down[1]?.cpu, 'µs');
  });
}

/** The devices receive whole texts, because older revisions do not send edits. */
function compareBroadcasts(other: string): Promise<void> {
  return withBothServers(other, async (servers) => {
    const groups: Group[] = [];
    for (const server of servers) groups.push(await roomGroup(server, { edits: false }));
    const [theirs, own] = await broadcast(groups, rounds);
    printRow('from a write to the last of 100 devices, p50', theirs?.p50, own?.p50, 'ms');
    printRow('from a write to the last of 100 devices, p99', theirs?.p99, own?.p99, 'ms');
    printRow('a write that 100 devices receive, CPU', theirs?.cpu, own?.cpu, 'µs');
  });
}

function compareTypists(other: string): Promise<void> {
  return withBothServers(other, async (servers) => {
    const groups: TypistGroup[] = [];
    for (const server of servers) groups.push(await typistGroup(server));
    const [theirs, own] = await typeInTurns(groups, rounds);
    printRow('an edit that 20 typists receive, CPU', theirs?.cpu, own?.cpu, 'µs');
    printRow('the same, until it is stored, p50', theirs?.p50, own?.p50, 'ms');
    printRow('the same, p99', theirs?.p99, own?.p99, 'ms');
  });
}

async function compareMemory(other: string): Promise<void> {
  const [theirs, own] = [[] as number[], [] as number[]];
  for (let round = 0; round < rounds; round++) {
    theirs.push((await idleMemory(await startWarm(other))) / 2 ** 20);
    own.push((await idleMemory(await startWarm())) / 2 ** 20);
  }
  printRow('memory when idle', theirs, own, 'MiB');
}

async function compareStarts(other: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-bench-'));
  for (const [work, nameOf] of [
    ['start', () => 'existing'],
    ['start with an empty data folder', (round: number) => `fresh-${round}`],
  ] as const) {
    const [theirs, own] = [[] as number[], [] as number[]];
    for (let round = 0; round < rounds + 2; round++) {
      theirs.push(await timeToStart(join(folder, 'other', nameOf(round)), other));
      own.push(await timeToStart(join(folder, 'own', nameOf(round))));
    }
    printRow(work, theirs.slice(2), own.slice(2), 'ms');
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Less is better for all values. */
function printRow(work: string, theirs: number[] = [], own: number[] = [], unit: string): void {
  const ratios = own.map((value, round) => value / (theirs[round] ?? Number.NaN)).toSorted((a, b) => a - b);
  const [least, most] = confidenceInterval(ratios);
  const [less, more] = unit === 'MiB' ? ['less', 'more'] : ['faster', 'slower'];
  const verdict = most < 1 ? `**${less}**` : least > 1 ? `**${more}**` : 'no difference beyond noise';
  const show = (values: number[]) => `${median(values).toFixed(1)} ${unit}`;
  const between = `${least.toFixed(3)} and ${most.toFixed(3)}`;
  console.log(`| ${work} | ${show(theirs)} | ${show(own)} | ${median(ratios).toFixed(3)} | ${between} | ${verdict} |`);
}

/** The 95 % confidence interval of the median, for any distribution: from the binomial distribution of its rank. */
function confidenceInterval(sorted: readonly number[]): [number, number] {
  const n = sorted.length;
  let tail = 0;
  let k = 0;
  for (; k < n / 2; k++) {
    tail += binomial(n, k) / 2 ** n;
    if (tail > 0.025) break;
  }
  return [sorted[Math.max(0, k - 1)] ?? Number.NaN, sorted[Math.min(n - 1, n - k)] ?? Number.NaN];
}

function binomial(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result *= (n - k + i) / i;
  return result;
}
