/** Writes man/poproom.1 from the table of commands. */

import type { Command, Option } from '../src/cli/command.ts';
import { commands, localCommands, serverCommands } from '../src/cli/commands.ts';
import { exitCodes } from '../src/cli/errors.ts';
import { codeHelp, cryptoCommands, roomCommands } from '../src/cli/room-commands.ts';
import { ownOptions, roomOptions, variables } from './cli-guide.ts';
import { recipes } from './cli-recipes.ts';

export function manPage(): string {
  const lines = [
    '.\\" Written by "npm run generate" from the table of commands in src/cli.',
    '.TH POPROOM 1 "" "poproom" "User Commands"',
    '.SH NAME',
    'poproom \\- share text and files between devices through short\\-lived rooms',
    '.SH SYNOPSIS',
    `${bold('poproom')} \\fICOMMAND\\fR [\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]`,
    '.SH DESCRIPTION',
    plain(about),
    ...group('Rooms', roomCommands),
    ...group('Encrypted data in requests of your own', cryptoCommands),
    ...group('This machine', localCommands),
    ...group('Your own server', serverCommands),
    '.SH ROOM CODES',
    plain(codeHelp.replaceAll('\n', ' ')),
    '.SH OPTIONS',
    'All commands for rooms have these options. The options of each command are below.',
    ...Object.entries(roomOptions).flatMap(([name, option]) => optionItem(name, option)),
    '.SH COMMANDS',
    ...commands.flatMap(section),
    '.SH EXAMPLES',
    ...recipes.flatMap(({ title, lines }) => ['.PP', `${plain(title)}:`, ...code(lines)]),
    '.SH ENVIRONMENT',
    ...variables.flatMap(([name, meaning]) => item(bold(unquoted(name)), unquoted(meaning))),
    '.SH EXIT STATUS',
    ...[[0, 'done'] as const, ...exitCodes].flatMap(([code, means]) => item(bold(String(code)), means)),
    '.SH FILES',
    ...item(bold('~/.config/poproom/config.json'), 'the servers and API keys; see "poproom config"'),
    ...item(
      bold('~/.local/state/poproom'),
      'the last server used, recent rooms, keys of encrypted rooms and the ids of unfinished uploads',
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const about =
  'poproom creates rooms on any server, writes and reads their text, and sends and fetches files. It also runs your own server. "poproom COMMAND --help" shows the help of a command.';

const group = (title: string, list: readonly Command[]): string[] => [
  `.SS ${plain(title)}`,
  ...list.flatMap(({ name, summary }) => item(bold(name), summary)),
];

function section(command: Command): string[] {
  const { name, args, summary, details = '', examples } = command;
  return [
    `.SS ${plain(['poproom', name, args].filter(Boolean).join(' '))}`,
    plain(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...details
      .replace(codeHelp, '')
      .trim()
      .split(/\n{2,}/)
      .filter(Boolean)
      .flatMap(paragraph),
    ...Object.entries(ownOptions(command)).flatMap(([option, definition]) => optionItem(option, definition)),
    '.PP',
    'Examples:',
    ...examples.flatMap(([line, meaning]) => item(bold(line), meaning)),
  ];
}

/** Lines that begin with spaces are the rows of a table. */
function paragraph(text: string): string[] {
  if (!/^ /m.test(text)) return ['.PP', plain(text.replaceAll('\n', ' '))];
  return text.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.trim().split(/ {2,}/);
    return item(bold(left), right);
  });
}

function optionItem(name: string, { value, short, summary }: Option): string[] {
  const spellings = [...(short ? [bold(`-${short}`)] : []), bold(`--${name}`)].join(', ');
  return item(value ? `${spellings} \\fI${plain(value)}\\fR` : spellings, summary);
}

/** Lines that keep their breaks. */
const code = (lines: string): string[] => ['.PP', '.RS 4', '.nf', plain(lines.trim()), '.fi', '.RE'];

const item = (tag: string, text: string): string[] => ['.TP', tag, plain(text)];
const bold = (text: string) => `\\fB${plain(text)}\\fR`;
const unquoted = (text: string) => text.replaceAll('`', '');

/** Escapes what troff would interpret, and writes other characters than ASCII in its notation. */
function plain(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(aq');
  const ascii = escaped.replaceAll('…', '...').replaceAll(/[^\n -~]/gu, (character) => {
    return `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
  return ascii.replaceAll(/^\./gm, '\\&.');
}
