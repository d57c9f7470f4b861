/** The `poproom` command. */
import { type Command, helpOf, inColumns, readInput } from './command.ts';
import { commands, roomCommands, serverCommands } from './commands.ts';
import { UsageError } from './usage-error.ts';

// Who reads the output may stop reading, and a terminal may be closed (EIO): that is no failure, and what was asked for
// is done, or cleared away, without a word.
process.stderr.on('error', () => undefined);
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY)) return;
  console.error(`poproom: the output could not be written (${message})`);
  process.exit(1);
});

try {
  await run(process.argv.slice(2));
} catch (error) {
  const { explain } = await import('./failure.ts');
  const { exitCode, sentence } = explain(error);
  process.exitCode = exitCode;
  if (sentence) console.error(sentence);
}

async function run([name = 'help', ...rest]: string[]): Promise<void> {
  if (name === '--version' || name === '-v')
    return console.log((await import('../../package.json', { with: { type: 'json' } })).default.version);
  if (name === 'help' && rest[0] !== undefined) return run([rest[0], '--help']);
  if (['help', '--help', '-h'].includes(name)) return console.log(await overview());
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) throw new UsageError(`There is no command "${name}". Try: poproom --help`);
  const input = readInput(command, rest);
  if (input.isSet('help')) return console.log(await fullHelp(command));
  try {
    await (await command.load())(input);
  } finally {
    if (roomCommands.includes(command)) endSoon();
  }
}

/** A server that does not answer the end of a live channel must not keep a command from ending. */
function endSoon(): void {
  const end = () => (process.stdout.writableLength > 0 ? endSoon() : process.exit());
  setTimeout(end, 1000).unref();
}

async function overview(): Promise<string> {
  const { exitCodes } = await import('./failure.ts');
  const rows = (commands: readonly Command[]) =>
    inColumns(commands.map(({ name, takes, does }) => [`poproom ${name} ${takes}`.trimEnd(), does]));
  return `poproom: share text and files between devices through short-lived rooms

Rooms:
${rows(roomCommands)}

Your own server:
${rows(serverCommands)}

  poproom COMMAND --help  options and examples
  poproom --version

The server is that of --url, POPROOM_URL, the config file or the last one used. POPROOM_API_KEY and POPROOM_PIN hold the
key and the PIN.

Exit codes, when something goes wrong:
${inColumns(exitCodes.map(([code, means]) => [String(code), means]))}
`;
}

/** The settings of the server are many, and only read where they are shown. */
async function fullHelp(command: Command): Promise<string> {
  if (command.name !== 'serve') return helpOf(command);
  return `${helpOf(command)}\n\n${(await import('./server/settings-help.ts')).settingsHelp()}`;
}
