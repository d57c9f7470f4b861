/** Writes docs/cli.md from the table of commands. */

import { type Command, help, type Option } from '../src/cli/command.ts';
import { commands, localCommands, serverCommands } from '../src/cli/commands.ts';
import { exitCodes } from '../src/cli/errors.ts';
import { localCodes } from '../src/cli/failure.ts';
import { codeHelp, cryptoCommands, roomCommands } from '../src/cli/room-commands.ts';
import { recipes } from './cli-recipes.ts';
import { anchor, fence, paragraphs, table } from './markdown.ts';

export function cliGuide(): string {
  return `${paragraphs([
    '# The command line',
    '<!-- Written by "npm run generate" from src/cli/commands.ts, src/cli/room-commands.ts, src/cli/errors.ts, src/cli/failure.ts and scripts/cli-recipes.ts. -->',
    intro,
    fence('sh', 'npm install --global poproom'),
    'In a checkout, run `npm link`, or `node bin/poproom.js` instead of `poproom`. Commands use the server at `http://localhost:8080` unless you [choose another one](#server-api-key-and-pin):',
    fence('sh', 'export POPROOM_URL=https://pop.example.org'),
    'For completion in your shell, run `source <(poproom completion bash)`.',
    overview(),
    '## Recipes',
    ...recipes.flatMap(({ name, title, lines }) => [`### ${title}`, `<!-- ${name} -->`, fence('sh', lines)]),
    settings,
    scripts,
    '## Exit codes',
    table(['code', ''], [['0', 'done'], ...exitCodes.map(([code, means]) => [String(code), means])]),
    '## Commands',
    unwrapped(codeHelp),
    'All commands in rooms have these options. In `poproom new` and `poproom send`, `--pin` also protects the new room.',
    table(['option', ''], Object.entries(roomOptions).map(optionRow)),
    ...commands.map(section),
  ])}\n`;
}

const intro =
  '`poproom` creates rooms on any server, writes and reads their text, and sends and fetches files. It also runs your own server.';

function overview(): string {
  return [
    table(['in rooms', ''], roomCommands.map(row)),
    table(['encrypted data in requests of your own', ''], cryptoCommands.map(row)),
    table(['on this machine', ''], localCommands.map(row)),
    table(['your own server', ''], serverCommands.map(row)),
  ].join('\n\n');
}

function row({ name, summary }: Command): [string, string] {
  return [`[\`poproom ${name}\`](#${anchor(`poproom ${name}`)})`, summary];
}

/** The environment variables of the commands. The man page has them, too. */
export const variables: readonly (readonly [name: string, meaning: string])[] = [
  ['`POPROOM_URL`', 'URL of the server, or the name of a server in the config file'],
  ['`POPROOM_API_KEY`', 'API key, if the server requires one or you need a higher limit'],
  ['`POPROOM_CREATE_PASSWORD`', 'password for creating rooms, if the server requires one'],
  ['`POPROOM_ADMIN_TOKEN`', 'admin token of the server, for `poproom admin`'],
  ['`POPROOM_PIN`', 'PIN of the room; by default, the command prompts for it if the room requires one'],
  [
    '`POPROOM_ROOM_KEY`',
    'key of an encrypted room; by default, the key that this computer kept when it created the room, or a prompt',
  ],
  ['`POPROOM_NEW_PIN`', 'new PIN for `poproom set --new-pin`'],
  [
    '`POPROOM_TIMEOUT`',
    'how long to wait for a server that does not respond, such as `30s`; `0` means no limit; default `60s`',
  ],
  ['`POPROOM_LAN_LINK`', '`off` keeps `localhost` in links to a server on this machine'],
  ['`POPROOM_RECENT`', '`off` keeps no list of recent rooms'],
  [
    '`NODE_EXTRA_CA_CERTS`',
    'file with further CA certificates, for a server whose certificate is from your own authority',
  ],
  ['`XDG_CONFIG_HOME`', 'folder of `poproom/config.json`; default `~/.config`'],
  [
    '`XDG_STATE_HOME`',
    'folder that stores the last server used, recent rooms, keys of encrypted rooms, the ids of unfinished uploads and the values of the page of `poproom ui`; default `~/.local/state`',
  ],
  ['`SHELL`', 'shell for the command of `watch --exec`; default `/bin/sh`'],
];

const settings = `## Server, API key and PIN

An option comes before an environment variable, and a variable before the config file. The command uses the first of \
these servers that is set:

1. \`--url\`
2. the server in the link, if you pass a link instead of a code
3. \`POPROOM_URL\`
4. the config file: the server that \`default\` names, or \`url\`
5. the last server used
6. \`http://localhost:8080\`

These variables configure the command:

${table(['variable', ''], variables)}

You cannot pass a PIN or an API key as an argument, because arguments are visible in the shell history and in the process \
list. \`POPROOM_PIN\` is the PIN of an existing room. A new room gets it only with \`--pin\`: without that option, \
\`poproom new\` and \`poproom send\` ask on a terminal whether to use it, and elsewhere create a room without a PIN and say so.

Instead of setting variables, you can store servers and keys with [\`poproom config\`](#poproom-config). The file has mode \
0600 and looks like this:

\`\`\`json
{
  "url": "https://pop.example.org",
  "apiKey": "pop_…",
  "default": "work",
  "servers": { "work": { "url": "https://pop.work.example", "apiKey": "pop_…" } }
}
\`\`\`

A key that is set together with a URL, in the config file or in the environment, is sent only to that server. A key \
without a URL is sent to the server from \`--url\`, \`POPROOM_URL\` or the config file, or to \
\`http://localhost:8080\`. A key is never sent to the server of a link that you have not configured in one of these ways.

\`poproom serve --help\` lists the settings of your own server; [operations.md](operations.md) explains them.`;

const scripts = `## In scripts

- Results go to standard output, everything else to standard error. With \`--json\`, the result is one line of JSON; \
\`watch\` prints one line per text.
- With \`--json\`, a failure is one line of JSON, the last one on standard error: \
\`{"error":{"code":"ROOM_NOT_FOUND","message":"…","requestId":"…","exitCode":3}}\`. \`code\` is an error code of the API, \
\`OFFLINE\` (with \`details.reason\`), \`INVALID_RESPONSE\`, or one of the command itself: \
${Object.entries(localCodes)
  .map(([code, means]) => `\`${code}\` (${means})`)
  .join(', ')}. \`requestId\` is the id in the log \
of the server. An interruption prints nothing.
- \`poproom new\` reads the text of the room from standard input if that is a pipe or a file. In a loop such as \
\`while read name; do poproom new; done < list\`, it leaves the file to the loop; this works on Linux, where a program can see \
that a file is partly read. In other loops and in CI jobs, use \`poproom new --no-input\`. No other command reads standard \
input, except \`put\` without a text, \`config set\` of a key, and \`-\`.
- A command gives up on a server that accepts the connection but sends nothing for 60 seconds; \`--timeout\` changes this.
- Without a terminal, the command never prompts. Set \`POPROOM_PIN\` if a room has a PIN. \`poproom rm\` and \
\`poproom history --delete\` delete without confirmation.
- If \`poproom fetch\` is interrupted, run the same command again: it requests only what is missing. Until then, a hidden \
file \`.poproom-….part\` is beside the target; remove it if you do not want to continue.
- If \`poproom send\` is interrupted, run the same command again: it continues where it stopped, and does not send \
complete files again. This works for 24 hours, unless a file has changed. Standard input and pipes start again.
- After \`429\` or \`503\`, the command retries up to twice if the server asks it to wait 5 seconds or less.`;

/** Options that all commands in rooms share are listed once. */
export const roomOptions: Command['options'] = { ...sharedOptions(), help };

function sharedOptions(): Command['options'] {
  const [first, ...rest] = roomCommands.filter(({ args }) => args.startsWith('CODE')) as [Command, ...Command[]];
  const isShared = ([name, option]: [string, Option]) => rest.every(({ options }) => options[name] === option);
  return Object.fromEntries(Object.entries(first.options).filter(isShared));
}

function section(command: Command): string {
  const { name, args, summary, details = '', examples } = command;
  const options = Object.entries(ownOptions(command)).map(optionRow);
  return paragraphs([
    `### poproom ${name}`,
    `\`${['poproom', name, args].filter(Boolean).join(' ')}\``,
    unwrapped(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}. ${details.replace(codeHelp, '').trim()}`),
    fence('sh', examples.map(([line, summary]) => `# ${summary}\n${line}`).join('\n\n')),
    options.length > 0 ? table(['option', ''], options) : undefined,
  ]);
}

/** Without those that all commands in rooms share. */
export function ownOptions(command: Command): Command['options'] {
  if (!roomCommands.includes(command)) return command.options;
  return Object.fromEntries(Object.entries(command.options).filter(([name, option]) => roomOptions[name] !== option));
}

function optionRow([name, { value, short, summary }]: [string, Option]): [string, string] {
  return [`\`${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}\``, summary];
}

/** Joins lines that are wrapped for a terminal. An empty line separates paragraphs. */
function unwrapped(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => (paragraph.startsWith('  ') ? rowsTable(paragraph) : prose(paragraph)))
    .join('\n\n');
}

/** On one line, with options and variables as code. */
function prose(paragraph: string): string {
  const typed = /(?<=^|[\s(])(--?[a-z-]*|POPROOM_[A-Z_]+(=\w+)?|PORT)(?=[\s,.;:)]|$)/g;
  return paragraph.replaceAll('\n', ' ').replaceAll(typed, '`$1`');
}

/** Lines that begin with spaces are the rows of a table. */
function rowsTable(text: string): string {
  const rows = text.split('\n').map((line) => line.trim().split(/ {2,}/));
  return table(
    ['name', ''],
    rows.map(([left = '', right = '']) => [`\`${left}\``, right]),
  );
}
