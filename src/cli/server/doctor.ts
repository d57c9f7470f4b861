/** `poproom doctor`: checks the setup of the server and suggests fixes. */
import { type Config, inspectConfig } from '../../config.ts';
import type { Input } from '../command.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { exitCode, UsageError } from '../errors.ts';
import { print, printable } from '../output.ts';
import { parseServerUrl } from '../server-choice.ts';
import { bad, type Check, type DoctorContext, type Finding, type ServerAddress } from './doctor/check.ts';
import { serverChecks } from './doctor/server-checks.ts';
import { settingsChecks } from './doctor/settings-checks.ts';
import { storageChecks } from './doctor/storage-checks.ts';

const checks: readonly Check[] = [...settingsChecks, ...storageChecks, ...serverChecks];

export async function doctor(input: Input): Promise<void> {
  if (input.args.length > 0)
    throw new UsageError(`"poproom doctor" takes no arguments, but got "${input.args[0]}"; see poproom doctor --help.`);
  const environment = readEnvironment();
  const findings = await runChecks(createContext(input, environment));
  report(input, findings, environment);
  if (findings.some(({ verdict }) => verdict === 'bad')) process.exitCode = 1;
  else if (findings.some(({ skipped = 0 }) => skipped > 0)) process.exitCode = exitCode.unreachable;
}

function createContext(input: Input, { apiKey, createPassword }: Environment): DoctorContext {
  const settings = inspectConfig();
  const url = input.value('url');
  const address = url
    ? ({ url: parseServerUrl(url).replace(/\/+$/, ''), from: '--url' } as const)
    : configuredAddress(settings.config);
  return { settings, address, apiKey, createPassword };
}

/** Undefined if the server chooses its port. */
function configuredAddress({ publicUrl, port, host, tlsCert }: Partial<Config>): ServerAddress | undefined {
  if (publicUrl) return { url: publicUrl, from: 'POPROOM_PUBLIC_URL' };
  if (!port) return undefined;
  const isWildcard = host === undefined || host === '0.0.0.0' || host === '::';
  const name = isWildcard ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return { url: `${tlsCert ? 'https' : 'http'}://${name}:${port}`, from: 'PORT' };
}

/** Runs all checks concurrently, and returns the findings in the order of the checks. */
async function runChecks(context: DoctorContext): Promise<CheckFinding[]> {
  const { config } = context.settings;
  // The settings of the caller say nothing about a server that is named by its URL.
  const chosen = context.address?.from === '--url' ? serverChecks : checks;
  const runnable = chosen.filter(({ needs }) => needs.every((key) => key in config));
  const all = runnable.map(async ({ name, run }) => {
    const findings = await Promise.try(run, config as Config, context).catch((error) => [failedCheck(error)]);
    return findings.map((finding) => ({ check: name, ...finding }));
  });
  return (await Promise.all(all)).flat();
}

/** Shows only the code of the error, because its message may contain a URL with a password. */
const failedCheck = (error: NodeJS.ErrnoException): Finding =>
  bad(`The check failed (${error.code ?? error.name}).`, 'This is a bug in Poproom; please report it.');

type CheckFinding = Finding & { check: string };

const marks: Record<Finding['verdict'], { mark: string; color: string }> = {
  ok: { mark: '✓', color: '32' },
  warning: { mark: '!', color: '33' },
  bad: { mark: '✗', color: '31' },
};

/** Prints the findings: a mark and a sentence each, and the fix below it. */
function report(input: Input, findings: readonly CheckFinding[], { wantsColor }: Environment): void {
  const isColored = wantsColor && process.stdout.isTTY;
  const lines = findings.map((finding) => linesOf(finding, isColored));
  print(input, findings, `${lines.join('\n')}\n\n${summary(findings)}`);
}

function linesOf({ check, verdict, found, fix }: CheckFinding, isColored: boolean): string {
  const { mark, color } = marks[verdict];
  const sign = isColored ? `\x1b[${color}m${mark}\x1b[0m` : mark;
  const lines = [`${sign} ${check.padEnd(8)}  ${printable(found)}`];
  if (fix) lines.push(`${' '.repeat(12)}${printable(fix)}`);
  return lines.join('\n');
}

function summary(findings: readonly CheckFinding[]): string {
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const [problems, warnings] = [count('bad'), count('warning')];
  const skipped = findings.reduce((sum, { skipped = 0 }) => sum + skipped, 0);
  const rest = skipped > 0 ? [`The server is not running; ${skipped} checks were skipped.`] : [];
  if (problems + warnings > 0) return [`Problems: ${problems}. Warnings: ${warnings}.`, ...rest].join(' ');
  return rest[0] ?? 'No problems found.';
}
