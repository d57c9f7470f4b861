/** Runs `poproom doctor` with the given settings and returns its findings. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';

export interface DoctorResult {
  code: number | undefined;
  /** The complete output. */
  text: string;
  findings: readonly Finding[];
  /** Fails if there is no such finding. Returns its fix. */
  assertFinding(check: string, verdict: 'ok' | 'warning' | 'bad', found: RegExp): string;
  /** Number of warnings and problems. */
  readonly problemCount: number;
}

interface Finding {
  check: string;
  verdict: string;
  found: string;
  fix?: string;
  skipped?: number;
}

/** It stays empty: doctor creates nothing. */
const cwd = mkdtempSync(join(tmpdir(), 'poproom-doctor-'));
process.once('exit', () => rmdirSync(cwd));

export async function runDoctor(
  t: TestContext,
  env: Record<string, string>,
  args: string[] = [],
): Promise<DoctorResult> {
  const cli = await createCli(t, { PORT: '0', POPROOM_MIN_FREE_DISK: '0', ...env });
  // In one folder, because only commands with the same one can run concurrently in this process.
  const { code, stdout, stderr } = await cli.run(['doctor', '--json', ...args], { cwd });
  assert.equal(stderr, '');
  const findings = JSON.parse(stdout) as Finding[];
  for (const { verdict, fix } of findings) assert.equal(fix === undefined, verdict === 'ok', 'every problem has a fix');
  const isIncomplete = findings.some(({ skipped = 0 }) => skipped > 0);
  assert.equal(code, findings.some(({ verdict }) => verdict === 'bad') ? 1 : isIncomplete ? 8 : 0);
  return {
    code,
    text: stdout,
    findings,
    problemCount: findings.filter(({ verdict }) => verdict !== 'ok').length,
    assertFinding(check, verdict, found) {
      const match = findings.find(
        (finding) => finding.check === check && finding.verdict === verdict && found.test(finding.found),
      );
      assert.ok(match, `expected ${check} to be ${verdict} with ${found} in ${stdout}`);
      return match.fix ?? '';
    },
  };
}
