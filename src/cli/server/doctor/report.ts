/** Tells what was found: a mark and a sentence each, and below it how to mend it. */
import type { Input } from '../../command.ts';
import type { Environment } from '../../environment.ts';
import { print } from '../../output.ts';
import { printable } from '../../printable.ts';
import type { Finding, Verdict } from './finding.ts';

export type Named = Finding & { check: string };

const marks: Record<Verdict, { mark: string; color: string }> = {
  ok: { mark: '✓', color: '32' },
  warning: { mark: '!', color: '33' },
  bad: { mark: '✗', color: '31' },
};

export function report(input: Input, findings: readonly Named[], { wantsColor }: Environment): void {
  const isColored = wantsColor && process.stdout.isTTY;
  const lines = findings.map((finding) => linesOf(finding, isColored));
  print(input, findings, `${lines.join('\n')}\n\n${summary(findings)}`);
}

function linesOf({ check, verdict, found, mend }: Named, isColored: boolean): string {
  const { mark, color } = marks[verdict];
  const sign = isColored ? `\x1b[${color}m${mark}\x1b[0m` : mark;
  const lines = [`${sign} ${check.padEnd(8)}  ${printable(found)}`];
  if (mend) lines.push(`${' '.repeat(12)}${printable(mend)}`);
  return lines.join('\n');
}

function summary(findings: readonly Named[]): string {
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const [badOnes, warnings] = [count('bad'), count('warning')];
  if (badOnes + warnings === 0) return 'All is well.';
  return `Bad: ${badOnes}. Warnings: ${warnings}.`;
}
