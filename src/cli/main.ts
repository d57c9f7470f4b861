/** The `poproom` command. */
import {
  assertArguments,
  beforeDashes,
  type Command,
  formatColumns,
  helpOf,
  readInput,
  suggestCommand,
} from './command.ts';
import { commands, localCommands, serverCommands } from './commands.ts';
import { exitCodes, UsageError } from './errors.ts';
import { cryptoCommands, roomCommands } from './room-commands.ts';
import { fitWidth } from './text-width.ts';

// A reader that stops reading, or a terminal that is closed (EIO), is not a failure: the command finishes its work, or
// cleans up, without a message.
process.stderr.on('error', () => undefined);
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY)) return;
  console.error(`poproom: Cannot write to standard output (${message}).`);
  process.exit(1);
});

try {
  await run(process.argv.slice(2));
} catch (error) {
  const { explain, failureJson, formatFailure } = await import('./failure.ts');
  const failure = explain(error);
  process.exitCode = failure.exitCode;
  // Also for incorrect usage, when the options could not be parsed.
  const wantsJson = beforeDashes(process.argv.slice(2)).includes('--json');
  if (failure.message) console.error((wantsJson ? failureJson : formatFailure)(failure));
}

async function run([name = 'help', ...rest]: string[]): Promise<void> {
  if (['--version', '-V', '-v'].includes(name))
    return console.log((await import('../../package.json', { with: { type: 'json' } })).default.version);
  if (name === 'help' && rest[0] === 'crypto') return printHelp(cryptoHelp());
  if (name === 'help' && rest[0] !== undefined) return run([rest[0], '--help']);
  if (['help', '--help', '-h'].includes(name)) return printHelp(overview());
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) throw new UsageError(explainUnknown(name));
  const input = readInput(command, rest);
  if (input.isSet('help')) return printHelp(await fullHelp(command));
  assertArguments(command, input);
  try {
    await (await command.load())(input);
  } finally {
    if (!serverCommands.includes(command)) exitSoon();
  }
}

function explainUnknown(name: string): string {
  const kind = name.startsWith('-') ? 'option' : 'command';
  const known = kind === 'option' ? ['--help', '--version'] : commands.map((command) => command.name);
  const nearest = suggestCommand(name, known);
  const suggestion = nearest === undefined ? '' : `did you mean ${nearest}? Or `;
  return `Unknown ${kind} "${name}"; ${suggestion}see poproom --help.`;
}

/** A pipe receives the lines as they are, for programs such as grep. */
function printHelp(text: string): void {
  const { isTTY, columns } = process.stdout;
  console.log(isTTY && columns > 0 ? fitWidth(text, columns) : text);
}

/** A server that does not confirm the close of a live channel must not keep the command running. */
function exitSoon(): void {
  const exit = () => (process.stdout.writableLength > 0 ? exitSoon() : process.exit());
  setTimeout(exit, 1000).unref();
}

function rows(commands: readonly Command[]): string {
  return formatColumns(commands.map(({ name, args, summary }) => [`poproom ${name} ${args}`.trimEnd(), summary]));
}

function cryptoHelp(): string {
  return `Commands that encrypt and decrypt data of encrypted rooms, for programs that send their own requests, such as curl:

${rows(cryptoCommands)}

  poproom COMMAND --help  show options and examples

All other commands encrypt and decrypt automatically.
`;
}

function overview(): string {
  return `poproom: share text and files between devices through short-lived rooms

Rooms:
${rows(roomCommands)}

This machine:
${rows(localCommands)}

Your own server:
${rows(serverCommands)}

  poproom COMMAND --help  show options and examples
  poproom help crypto     show the commands for encrypted data in requests of your own
  poproom --version, -V   show the version

The commands use the server from --url, POPROOM_URL or the config file, or the last one used; see poproom config --help.
Set POPROOM_API_KEY to send an API key, and POPROOM_PIN or POPROOM_ROOM_KEY to give a PIN or a room key without a prompt.

Exit codes on failure:
${formatColumns(exitCodes.map(([code, means]) => [String(code), means]))}
`;
}

/** Loads the long list of server settings only if it is shown. */
async function fullHelp(command: Command): Promise<string> {
  if (command.name !== 'serve') return helpOf(command);
  const { settings } = await import('../config.ts');
  const rows = Object.values(settings).map(({ name, standard, help }) => {
    return `  ${name.padEnd(32)} ${(standard ?? '').padEnd(9)} ${help}`;
  });
  return [helpOf(command), '', 'Settings (environment variables), with their defaults:', '', ...rows, ''].join('\n');
}
