/** The output of `npm test`: a line for each file, and a summary. */
import type { Failure, Outcome } from './test-reporter.ts';

export type EngineName = 'embedded' | 'distributed';

/** The result of one file. */
export interface Result {
  file: string;
  engine: EngineName;
  seconds: number;
  cpuSeconds: number;
  counts: Readonly<Record<Outcome, number>>;
  failures: readonly Failure[];
  notes: readonly string[];
  /** Everything that its process printed. */
  output: string;
}

const mostExpensiveShown = 8;

export function lineOf({ file, engine, seconds, cpuSeconds, counts, failures, notes }: Result): string {
  const { failed, skipped } = counts;
  const figures = [
    plural(testsIn(counts), 'test'),
    failed > 0 && `${failed} failed`,
    skipped > 0 && `${skipped} skipped`,
  ];
  const head = `${failures.length > 0 ? '✖' : '✔'} ${file.padEnd(48)} ${seconds.toFixed(1).padStart(6)} s ${cpuSeconds.toFixed(1).padStart(5)} CPU`;
  const where = engine === 'distributed' ? ' on Redis and S3' : '';
  const failedTests = failures.map(({ name, place }) => `  ✖ ${name} (${place})\n`);
  return [
    `${head}  ${figures.filter(Boolean).join(', ')}${where}\n`,
    ...failedTests,
    ...notes.map((text) => `    ${text}\n`),
  ].join('');
}

interface Run {
  /** The number of files without a result. */
  notRun: number;
  ms: number;
}

export function summaryOf(results: readonly Result[], run: Run): string {
  const failed = results.flatMap(({ engine, failures, output }) =>
    failures.map((failure, index) => detailsOf(engine, failure, index === failures.length - 1 ? output : '')),
  );
  return [...failed, '\n', ...engineTotals(results), verdictOf(results, run), mostExpensiveOf(results)].join('');
}

const testsIn = ({ passed, failed, skipped }: Result['counts']) => passed + failed + skipped;

function detailsOf(engine: EngineName, { name, place, reason }: Failure, output: string): string {
  const indented = [reason, output.trimEnd()].filter(Boolean).join('\n').replaceAll(/^/gm, '  ');
  return `\n✖ ${name}\n  ${place}, ${engine} engine\n${indented}\n`;
}

function engineTotals(results: readonly Result[]): string[] {
  return (['embedded', 'distributed'] as const).flatMap((engine) => {
    const own = results.filter((result) => result.engine === engine);
    if (own.length === 0) return [];
    const total = (outcome: Outcome) => own.reduce((sum, { counts }) => sum + counts[outcome], 0);
    const tests = own.reduce((sum, { counts }) => sum + testsIn(counts), 0);
    const figures = `${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped`;
    return [`${`${engine} engine`.padEnd(19)} ${plural(tests, 'test')} in ${plural(own.length, 'file')}: ${figures}\n`];
  });
}

function verdictOf(results: readonly Result[], { notRun, ms }: Run): string {
  const failed = results.filter(({ failures }) => failures.length > 0);
  const time = `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
  if (failed.length === 0 && notRun === 0) return `All passed in ${time}.\n`;
  const unfinished = notRun > 0 && `${plural(notRun, 'file')} did not finish`;
  const reasons = [failed.map(({ file }) => file).join(', '), unfinished].filter(Boolean);
  return `${failed.length > 0 ? 'FAILED' : 'STOPPED'} in ${time}: ${reasons.join('; ')}\n`;
}

/** Two cores are busy most of the time, so the CPU time decides how long a run takes. */
function mostExpensiveOf(results: readonly Result[]): string {
  const total = results.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const listed = results.toSorted((a, b) => b.cpuSeconds - a.cpuSeconds).slice(0, mostExpensiveShown);
  const names = listed.map(({ file, cpuSeconds }) => `${file} (${cpuSeconds.toFixed(0)} s)`);
  return `CPU time: ${total.toFixed(0)} s. Most expensive: ${names.join(', ')}\n`;
}

const plural = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;
