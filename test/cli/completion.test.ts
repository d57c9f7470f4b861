/** `poproom completion`: runs the script in bash, and compares the others with the table of commands. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { createCli } from '../support/cli.ts';
import { startTestServer } from '../support/server.ts';

describe('completion in bash', () => {
  it('[CLI-9] offers commands, options, choices and files', async (t) => {
    const cli = await createCli(t);
    for (const name of ['a photo.jpg', 'plan.pdf', '*']) await writeFile(join(cli.home, name), '');
    const offers = await offersOf(cli.home, (await cli.run(['completion', 'bash'])).stdout);
    const names = commands.map(({ name }) => name);

    assert.deepEqual(offers('poproom', ''), [...names, 'help', '--help', '--version']);
    assert.deepEqual(offers('poproom', 'set'), ['set']);
    assert.deepEqual(offers('poproom', 'help', 'doc'), ['doctor']);
    for (const { name, options } of commands) {
      const expected = [...Object.keys(options), 'help'].map((option) => `--${option}`);
      assert.deepEqual(offers('poproom', name, '--'), expected, name);
    }
    assert.deepEqual(offers('poproom', 'put', '7KQ2MX', '--b'), ['--base-version']);
    assert.deepEqual(offers('poproom', 'keys', ''), ['create', 'list', 'revoke']);
    assert.deepEqual(offers('poproom', 'keys', 'create', 'name', '--tier', ''), ['pro', 'free']);
    assert.deepEqual(offers('poproom', 'keys', 'create', 'name', '--tier', '=', 'f'), ['free']);
    assert.deepEqual(offers('poproom', 'keys', 'create', 'name', '--tier', '='), ['pro', 'free']);
    assert.deepEqual(offers('poproom', 'completion', 'z'), ['zsh']);
    assert.deepEqual(offers('poproom', 'send', '7KQ2MX', 'a'), ['a photo.jpg']);
    assert.deepEqual(offers('poproom', 'send', '7KQ2MX', 'a photo.jpg', '').sort(), ['*', 'a photo.jpg', 'plan.pdf']);
    assert.deepEqual(offers('poproom', 'fetch', '7KQ2MX', '-o', 'pl'), ['plan.pdf']);
  });

  it('[CLI-9] offers nothing where there is nothing to complete', async (t) => {
    const cli = await createCli(t);
    await writeFile(join(cli.home, 'file'), '');
    const offers = await offersOf(cli.home, (await cli.run(['completion', 'bash'])).stdout);
    const unknowable = ['get', 'new --expires', 'get 7KQ2MX --url', 'keys revoke', 'nonsense', 'nonsense -'];
    for (const line of unknowable) assert.deepEqual(offers('poproom', ...line.split(' '), ''), [], line);
  });
});

describe('completion of room codes', () => {
  it('[CLI-61] offers the recent rooms on the current server', async (t) => {
    const server = await startTestServer(t);
    server.clock.now = Date.now();
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const code = (await cli.run(['new'])).stdout.trim();
    await writeFile(join(cli.home, 'plan.pdf'), '');
    const env = { ...process.env, PATH: `${cli.bin}:${process.env.PATH}`, HOME: cli.home, POPROOM_URL: server.url };
    const folders = { XDG_CONFIG_HOME: join(cli.home, '.config'), XDG_STATE_HOME: join(cli.home, '.local/state') };
    const { stdout } = await cli.run(['completion', 'bash']);
    const offers = await offersOf(cli.home, stdout, { ...env, ...folders });
    assert.deepEqual(offers('poproom', 'get', ''), [code]);
    assert.deepEqual(offers('poproom', 'get', code.slice(0, 2)), [code]);
    assert.deepEqual(offers('poproom', 'get', code, ''), []);
    assert.deepEqual(offers('poproom', 'send', 'p'), ['plan.pdf']);
    const [zsh, fish] = await Promise.all([cli.run(['completion', 'zsh']), cli.run(['completion', 'fish'])]);
    for (const script of [zsh, fish]) assert.match(script?.stdout ?? '', /poproom recent --codes 2>\/dev\/null/);
  });
});

describe('completion in zsh and fish', () => {
  it('[CLI-9] know every command and every option of the table, with its description', async (t) => {
    const { run } = await createCli(t);
    const [zsh, fish] = await Promise.all([run(['completion', 'zsh']), run(['completion', 'fish'])]);
    assert.deepEqual([zsh?.code, fish?.code], [0, 0]);
    for (const { name, summary, options } of commands) {
      assert.ok(zsh?.stdout.includes(`'${name}:${summary}'`), name);
      assert.ok(fish?.stdout.includes(`-a ${name} -d '${summary}'`), name);
      const branch = zsh?.stdout.split(`\n    ${name})\n`)[1]?.split(' ;;\n')[0] ?? '';
      for (const option of Object.keys(options)) {
        assert.match(branch, new RegExp(`--${option}[=\\[}]`), `${name} --${option}`);
        assert.match(fish?.stdout ?? '', new RegExp(`_from ${name}'.* -l ${option} `), `${name} --${option}`);
      }
    }
    assert.ok(zsh?.stdout.includes(':TIER:(pro free)') && zsh.stdout.includes("'*:file:_files'"));
    assert.ok(fish?.stdout.includes("-l tier -x -a 'pro free'") && fish.stdout.includes("_from send' -F"));
  });
});

/** Asks as bash itself does: the words so far, the last of them unfinished. */
async function offersOf(
  folder: string,
  script: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<(...words: string[]) => string[]> {
  await writeFile(join(folder, '..', 'completion'), script);
  const ask = `set -eu; source ../completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _poproom || true
    for offer in "\${COMPREPLY[@]+"\${COMPREPLY[@]}"}"; do printf '%s\\0' "$offer"; done`;
  return (...words) => {
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', ask, 'bash', ...words], { cwd: folder, env });
    assert.deepEqual([status, String(stderr)], [0, '']);
    return String(stdout).split('\0').slice(0, -1);
  };
}
