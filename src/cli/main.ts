/** The `poproom` command. */
import { ConfigError } from '../config.ts';
import { PoproomError } from '../core/errors.ts';
import { UsageError } from './usage-error.ts';

const usage = `poproom: share text and files between devices through short-lived rooms

  poproom serve                          start the server
  poproom keys create NAME [--tier T]    make an API key (pro, or free) and show it, once
  poproom keys list                      show all keys, without their text
  poproom keys revoke NAME|ID            make a key invalid, at once

  poproom migrate --from … --to …        move everything to another engine, or another folder

  poproom serve --help                   all settings, with their defaults
  poproom --version
`;

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = 1;
  console.error(explain(error));
}

async function run([command, ...rest]: string[]): Promise<void> {
  switch (command) {
    case 'serve':
      return (await import('./serve.ts')).serve(rest);
    case 'keys':
      return (await import('./keys.ts')).keys(rest);
    case 'migrate':
      return (await import('./migrate.ts')).migrate(rest);
    case '--version':
    case '-v':
      return console.log((await import('../../package.json', { with: { type: 'json' } })).default.version);
    case undefined:
    case 'help':
    case '--help':
    case '-h':
      return console.log(usage);
    default:
      throw new UsageError(`There is no command "${command}". Try: poproom --help`);
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) {
    return ['poproom cannot start with these settings:', ...error.problems.map((problem) => `  ${problem}`)].join('\n');
  }
  if (error instanceof UsageError || error instanceof PoproomError) return `poproom: ${error.message}`;
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return 'poproom: the port is in use; choose another, such as PORT=8081';
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL') return 'poproom: POPROOM_HOST is no address of this machine';
  if (code === 'EEXIST' || code === 'ENOTDIR') return `poproom: POPROOM_DATA_DIR must be a folder (${message})`;
  if (message === 'file is not a database') return 'poproom: poproom.db in POPROOM_DATA_DIR is not a database';
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return `poproom: no permission (${message})`;
  return `poproom: ${stack ?? message}`;
}
