/** The commands about this machine: the local page, recent rooms and the config file. */
import { type Command, json } from './command.ts';

export const localCommands: readonly Command[] = [
  {
    name: 'ui',
    args: '[CODE]',
    summary: 'open the page of this installation in a browser, connected to a server',
    details: `The page, with its encryption, comes from this installation and not from the server, which only stores and forwards
data. Use it if you do not trust the server, or its connection, with the page.

The command listens on 127.0.0.1 only, on a random port, prints a link, and opens it if there is a desktop. The link
works once, in one browser. The page works until you press Ctrl-C. It keeps recent rooms and settings in the state
folder, unless recent rooms are off; the browser keeps nothing.

CODE opens a room. If this computer has its key, or POPROOM_ROOM_KEY is set, the page receives the key; otherwise you
enter it there.`,
    options: {
      url: {
        value: 'URL',
        summary:
          'server to use, as a URL or a name from the config file (default: POPROOM_URL, the config file, or the last server used)',
      },
      port: { value: 'PORT', summary: 'port on this machine (default: a random one)' },
      'no-open': { summary: 'print the link, and do not open a browser' },
      timeout: {
        value: 'TIME',
        summary: 'give up if the server does not respond at the start for this long (default: 60s)',
      },
    },
    examples: [
      ['poproom ui', 'open the page'],
      ['poproom ui 7KQ2MX', 'open a room'],
      ['poproom ui --url https://pop.example.org --no-open', 'print the link for another server'],
    ],
    load: async () => (await import('./local/ui.ts')).ui,
  },
  {
    name: 'recent',
    args: '[forget CODE… | clear]',
    summary: 'list the rooms that you used on this machine',
    details: `Shows the code, the name, the server and the time left of up to 50 rooms, as far as they are known. It sends no request.
Completion offers these codes. The list is in the state folder, in a file that only you can read. To keep no list, run
"poproom config set recent off" or set POPROOM_RECENT=off.

Of an encrypted room, this computer also remembers the salt, the expiry time and the newest version that it has seen,
and its key if it created the room. Only "poproom recent forget" and "poproom rm" erase that, or seven days without use
after the room has expired. "clear" does not.`,
    options: {
      codes: { summary: 'print only the codes of the rooms on the current server, for completion' },
      json,
    },
    examples: [
      ['poproom recent', 'list the rooms'],
      ['poproom recent forget 7KQ2MX', 'forget a room, and its key; the room itself is not deleted'],
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
