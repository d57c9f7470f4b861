/** The help of the command, and its messages for incorrect usage. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Command, readInput } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { exitCodes } from '../../src/cli/errors.ts';
import { cryptoCommands } from '../../src/cli/room-commands.ts';
import { createCli } from '../support/cli.ts';

describe('the help', () => {
  it('[CLI-1] has usage, every option and examples, for every command', async (t) => {
    const { run } = await createCli(t);
    await Promise.all(
      commands.map(async ({ name, args, options, examples }) => {
        const { code, stdout, stderr } = await run([name, '--help']);
        assert.deepEqual([code, stderr], [0, ''], name);
        assert.ok(stdout.startsWith(['poproom', name, args].filter(Boolean).join(' ')), name);
        for (const option of [...Object.keys(options), 'help']) assert.match(stdout, new RegExp(` --${option}\\b`));
        assert.ok(examples.length > 0, name);
        for (const [line] of examples) assert.ok(stdout.includes(line), line);
      }),
    );
  });

  it('[CLI-1] has examples that can be run as they are', () => {
    for (const command of commands) {
      for (const [line] of command.examples) {
        const typed = wordsAfter(command, line);
        assert.doesNotThrow(() => readInput(command, typed), line);
      }
    }
  });

  it('[CLI-1] is the same by -h and by "help", with arguments before it too', async (t) => {
    const { run } = await createCli(t);
    const ways = [
      ['put', '--help'],
      ['put', '-h'],
      ['help', 'put'],
      ['put', '7KQ2MX', '--help'],
    ];
    const said = await Promise.all(ways.map((args) => run(args)));
    for (const one of said) assert.deepEqual(one, said[0]);
  });

  it('[CLI-1] [CLI-105] lists all commands and exit codes if no command is given', async (t) => {
    const { run } = await createCli(t);
    const said = await Promise.all([[], ['--help'], ['-h'], ['help']].map((args) => run(args)));
    for (const one of said) assert.deepEqual(one, said[0]);
    const { code, stdout } = said[0] ?? assert.fail();
    assert.equal(code, 0);
    const lists = (text: string, { name, summary }: Command) =>
      text.includes(`poproom ${name}`) && text.includes(summary);
    for (const command of commands.filter((each) => !cryptoCommands.includes(each)))
      assert.ok(lists(stdout, command), command.name);
    // [CLI-105] Few people need these.
    const crypto = (await run(['help', 'crypto'])).stdout;
    for (const command of cryptoCommands)
      assert.deepEqual([lists(stdout, command), lists(crypto, command)], [false, true]);
    for (const [exitCode, means] of exitCodes) assert.match(stdout, new RegExp(`^ +${exitCode} +${means}$`, 'm'));
  });
});

describe('incorrect usage', () => {
  it('[CLI-1] is reported in one sentence, with exit code 2, and sends no request', async (t) => {
    const { run } = await createCli(t, { POPROOM_URL: 'http://127.0.0.1:1' });
    const wrong: [args: string[], says: RegExp][] = [
      [['nwe'], /Unknown command "nwe"/],
      [['help', 'nwe'], /Unknown command "nwe"/],
      [['new', 'hello'], /takes no arguments, but got "hello"; pipe in the text of the room/],
      [['new', '--expires', 'soon'], /"soon" is not a valid duration/],
      [['new', '--expires', '59s'], /a minute or more/],
      [['new', '--expires'], /argument missing; see poproom new --help/],
      [['new', '--colour'], /Unknown option '--colour'; see poproom new --help/],
      [['get'], /Which room\?/],
      [['get', 'not a code!'], /is not a valid room code/],
      [['get', '7KQ2MX', 'more'], /takes only a room code; unexpected argument "more"/],
      [['info', '7KQ2MX', 'more'], /takes only a room code/],
      [['put', '7KQ2MX'], /Which text\? Give it in quotes, or pipe it in/],
      [['put', '7KQ2MX', 'two', 'words'], /Put the text in quotes/],
      [['put', '7KQ2MX', 'text', '--base-version', 'x'], /"x" is not a version; use a whole number from "poproom get/],
      [['put', '7KQ2MX', 'text', '--append', '--base-version', '1'], /Use either --append or --base-version/],
      [['put', '7KQ2MX', '--append'], /Which text\?/],
      [['history'], /Which room\?/],
      [['history', '7KQ2MX', 'first'], /"first" is not a version; use a whole number from "poproom history"/],
      [['history', '7KQ2MX', '1', '2'], /Give one version, or none to list them all/],
      [['history', '7KQ2MX', '1', '--delete'], /--delete deletes the whole history; leave out the version/],
      [['restore', '7KQ2MX'], /Which version\? Give a room code and a version from "poproom history"/],
      [['restore', '7KQ2MX', '-1'], /see poproom restore --help/],
      [['restore', '7KQ2MX', '1', '2'], /Give one version only/],
      [['rm'], /Which room\?/],
      [['get', '7KQ2MX', '--url', 'pop.example.org'], /is not a valid server URL/],
      [['get', '7KQ2MX', '--url', 'ftp://pop.example.org'], /is not a valid server URL/],
      [['completion'], /Which shell\?/],
      [['completion', 'tcsh'], /Which shell\?/],
      [['doctor', 'now'], /takes no arguments, but got "now"/],
    ];
    await Promise.all(
      wrong.map(async ([args, says]) => {
        const { code, stdout, stderr } = await run(args);
        assert.deepEqual([code, stdout], [2, ''], args.join(' '));
        assert.match(stderr, says);
        assert.match(stderr, /^poproom: [^\n]+\n$/, 'it is one sentence');
      }),
    );
  });

  it('[CLI-1] does not repeat a password in a URL', async (t) => {
    const { run } = await createCli(t);
    const { code, stderr } = await run(['get', '7KQ2MX', '--url', 'https://me:pass-word@pop.example.org']);
    assert.deepEqual([code, stderr.includes('pass-word')], [2, false]);
  });
});

/** The arguments that the shell would pass to the command, without pipes, redirections and assignments. */
function wordsAfter({ name }: Command, line: string): string[] {
  const [, typed = ''] = new RegExp(`poproom ${name}([^|<)]*)`).exec(line) ?? assert.fail(line);
  return [...typed.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, ...ways]) => ways.find((way) => way !== undefined) ?? '',
  );
}
