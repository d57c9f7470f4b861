/** Prints the findings: a mark and a sentence each, and the fix below it. */
import type { Input } from '../../command.ts';
import type { Environment } from '../../environment.ts';
import { print } from '../../output.ts';
import { printable } from '../../printable.ts';
import type { Finding, Verdict } from './finding.ts';

export type CheckFinding = Finding & { check: string };

const marks: Record<Verdict, { mark: string; color: string }> = {
  ok: { mark: '✓', color: '32' },
  warning: { mark: '!', color: '33' },
  bad: { mark: '✗', color: '31' },
};

export function report(input: Input, findings: readonly CheckFinding[], { wantsColor }: Environment): void {
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
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const [problems, warnings] = [count('bad'), count('warning')];
  const skipped = findings.reduce((sum, { skipped = 0 }) => sum + skipped, 0);
  const rest = skipped > 0 ? [`The server is not running; ${skipped} checks were skipped.`] : [];
  if (problems + warnings > 0) return [`Problems: ${problems}. Warnings: ${warnings}.`, ...rest].join(' ');
  return rest[0] ?? 'No problems found.';
}
