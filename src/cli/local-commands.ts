/** The commands about this machine: recent rooms and the config file. */
import { type Command, json } from './command.ts';

export const localCommands: readonly Command[] = [
  {
    name: 'recent',
    args: '[forget CODE… | clear]',
    summary: 'list the rooms that you used on this machine',
    details: `Shows the code, the name, the server and the time left of up to 50 rooms, as far as they are known. It sends no request.
Completion offers these codes. The list is in the state folder, in a file that only you can read. To keep no list, run
"poproom config set recent off" or set POPROOM_RECENT=off.`,
    options: {
      codes: { summary: 'print only the codes of the rooms on the current server, for completion' },
      json,
    },
    examples: [
      ['poproom recent', 'list the rooms'],
      ['poproom recent forget 7KQ2MX', 'remove a room from the list; the room itself is not deleted'],
      ['poproom recent clear', 'remove all of them'],
    ],
    choices: ['forget', 'clear'],
    load: async () => (await import('./local/recent.ts')).recent,
  },
  {
    name: 'config',
    args: 'list | get NAME | set NAME [VALUE] | unset NAME',
    summary: 'show and change the server and the API key that commands use',
    details: `NAME is one of these:

  url                  URL of the server that commands use
  api-key              API key for it
  default              name of a server below, which commands use instead of url
  server.NAME.url      URL of a further server; --url NAME selects it
  server.NAME.api-key  API key for it
  recent               on (default) or off: whether used rooms are remembered

An API key is read from a prompt or from standard input, never from an argument, and is never shown in full. The file is
poproom/config.json in XDG_CONFIG_HOME (default: ~/.config), and only you can read it. An option comes before an
environment variable, a variable before the config file, and the config file before the last server used.`,
    options: { json },
    examples: [
      ['poproom config set url https://pop.example.org', 'use this server from now on'],
      ['poproom config set api-key', 'prompt for the API key'],
      ['poproom config set server.work.url https://pop.work.example', 'add a second server'],
      ['poproom config set default work', 'use it by default'],
      ['poproom config list', 'show the settings'],
    ],
    choices: ['list', 'get', 'set', 'unset'],
    load: async () => (await import('./local/config.ts')).config,
  },
];
