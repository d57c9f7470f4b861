/** The man page. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { manPage } from '../../scripts/man-page.ts';
import { commands } from '../../src/cli/commands.ts';
import { exitCodes } from '../../src/cli/errors.ts';

const inCheckout = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

describe('the man page', () => {
  it('[CLI-62] has every command, option and exit code, is up to date, and is in the package', () => {
    const page = readFileSync(inCheckout('man/poproom.1'), 'utf8');
    assert.equal(page, manPage(), 'run "npm run generate"');
    const text = page.replaceAll('\\-', '-').replaceAll(/\\f[BIR]/g, '');
    for (const { name, options } of commands) {
      assert.match(text, new RegExp(`^\\.SS poproom ${name}\\b`, 'm'));
      for (const option of Object.keys(options)) assert.match(text, new RegExp(`--${option}\\b`), `${name} ${option}`);
    }
    for (const [code, means] of exitCodes) assert.ok(text.includes(`\n${code}\n${means}\n`), means);
    const { man, files } = JSON.parse(readFileSync(inCheckout('package.json'), 'utf8'));
    assert.deepEqual([man, files.includes('man')], ['./man/poproom.1', true]);
  });

  it('[CLI-62] has no errors for groff', (t) => {
    const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8', inCheckout('man/poproom.1')]);
    if (error) return t.skip('groff is not installed.');
    assert.equal(String(stderr), '');
  });
});
