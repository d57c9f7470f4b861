/** docs/cli.md: what the command line says of itself, as a page. */
import { type Command, help, type Option } from '../src/cli/command.ts';
import { commands, roomCommands, serverCommands } from '../src/cli/commands.ts';
import { exitCodes } from '../src/cli/failure.ts';
import { recipes } from './cli-recipes.ts';
import { anchor, fence, paragraphs, table } from './markdown.ts';

export function cliGuide(): string {
  return `${paragraphs([
    '# The command line',
    '<!-- Written by "npm run generate" from src/cli/commands.ts, src/cli/failure.ts and scripts/cli-recipes.ts. -->',
    intro,
    fence('sh', 'npm install --global poproom'),
    'In a checkout it is `node bin/poproom.js`. `source <(poproom completion bash)` completes it in your shell.',
    overview(),
    settings,
    '## Recipes',
    ...recipes.flatMap(({ name, title, lines }) => [`### ${title}`, `<!-- ${name} -->`, fence('sh', lines)]),
    scripts,
    '## Exit codes',
    table(['code', ''], [['0', 'done'], ...exitCodes.map(([code, means]) => [String(code), means])]),
    '## Commands',
    `${aboutCodes} The commands that take one have these options:`,
    table(['option', ''], Object.entries(inRoom).map(optionRow)),
    ...commands.map(section),
  ])}\n`;
}

const intro =
  '`poproom` makes rooms, and puts text and files into them and takes them out, on any server; and it runs your own.';

function overview(): string {
  const inRooms = table(['in rooms', ''], roomCommands.map(row));
  return `${inRooms}\n\n${table(['your own server', ''], serverCommands.map(row))}`;
}

function row({ name, summary }: Command): [string, string] {
  return [`[\`poproom ${name}\`](#${anchor(`poproom ${name}`)})`, summary];
}

const settings = `## Which server, which key, which PIN

The server is the first of these that is there: \`--url\`; that of the link, where you give a link for a code; \
\`POPROOM_URL\`; \`url\` in the config file; the one used last; \`http://localhost:8080\`.

${table(
  ['variable', ''],
  [
    ['`POPROOM_URL`', 'address of the server'],
    ['`POPROOM_API_KEY`', 'API key, where the server asks for one or you need more requests'],
    ['`POPROOM_PIN`', 'PIN of the room; else you are asked for it when the room wants one'],
    ['`XDG_CONFIG_HOME`', 'where `poproom/config.json` is; `~/.config` when not said'],
    ['`XDG_STATE_HOME`', 'where the server used last is remembered; `~/.local/state` when not said'],
    ['`SHELL`', 'what runs the command of `watch --exec`; `/bin/sh` when not said'],
  ],
)}

A PIN is never said as an argument: it would stand in the history of the shell and in the list of processes. The config \
file, for what you do not want to say each time:

\`\`\`json
{ "url": "https://pop.example.org", "apiKey": "pop_…" }
\`\`\`

A key that stands beside an address, there or in the environment, goes to that server alone. One without an address goes \
to the server of \`--url\`, \`POPROOM_URL\` or the config file and to \`http://localhost:8080\`, and never to one that \
only a link has named.

The settings of a server of your own are listed by \`poproom serve --help\`, and explained in [operations.md](operations.md).`;

const scripts = `## In scripts

- Results go to standard output, everything else to standard error. With \`--json\`, the result is JSON on one line, with \
\`watch\` one line for each text.
- \`poproom new\` takes its standard input for the text of the room, if it is a pipe or a file. Where a script, a loop or \
a CI job has one that is not meant for it, say \`poproom new < /dev/null\`.
- Nobody is asked anything where there is no terminal: set \`POPROOM_PIN\`; \`poproom rm\` \
and \`poproom history --delete\` then delete without a question.
- A request that is refused for a moment (\`429\`, \`503\`) is tried again, up to twice, if the server asks for 5 seconds \
at most.`;

/** What the commands that take a code have in common is told once. */
const takingCode = roomCommands.filter(({ args }) => args.startsWith('CODE'));
const [first] = takingCode as [Command];
const inRoom: Command['options'] = { ...inAll(first.options), help };
const aboutCodes =
  first.details?.split('\n').find((line) => takingCode.every(({ details }) => details?.includes(line))) ?? '';

function inAll(options: Command['options']): Command['options'] {
  const isInAll = ([name, option]: [string, Option]) => takingCode.every(({ options }) => options[name] === option);
  return Object.fromEntries(Object.entries(options).filter(isInAll));
}

function section(command: Command): string {
  const { name, args, summary, details = '', examples } = command;
  const options = Object.entries(ownOptions(command)).map(optionRow);
  return paragraphs([
    `### poproom ${name}`,
    `\`${['poproom', name, args].filter(Boolean).join(' ')}\``,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}. ${unwrapped(details.replace(aboutCodes, ''))}`.trim(),
    fence('sh', examples.map(([line, summary]) => `# ${summary}\n${line}`).join('\n\n')),
    options.length > 0 ? table(['option', ''], options) : undefined,
  ]);
}

function ownOptions(command: Command): Command['options'] {
  if (!takingCode.includes(command)) return command.options;
  return Object.fromEntries(Object.entries(command.options).filter(([name, option]) => inRoom[name] !== option));
}

function optionRow([name, { value, short, summary }]: [string, Option]): [string, string] {
  return [`\`${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}\``, summary];
}

/** Its lines are broken for a terminal; only an empty line begins a paragraph. */
function unwrapped(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n\n');
}
