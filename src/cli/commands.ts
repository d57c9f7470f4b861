/** All commands, in the order of the help. The code of a command is loaded only when it runs. */
import { type Command, commandsIn, json, takes } from './command.ts';
import { cryptoCommands, roomCommands, timeout, url } from './room-commands.ts';

/** The commands about this machine: the local page, recent rooms and the config file. */
export const localCommands = commandsIn({
  ui: {
    args: '[CODE]',
    summary: 'open the page of this installation in a browser, connected to a server',
    details: `The page, with its encryption, comes from this installation and not from the server, which only stores and forwards
data. Use it if you do not trust the server, or the connection to it, to deliver the page.

The command listens on 127.0.0.1 only, on a random port, prints a link, and opens it if there is a desktop. The link
works once, in one browser. The page works until you press Ctrl-C. It keeps recent rooms and settings in the state
folder, unless recent rooms are off; the browser keeps nothing.

CODE opens a room. If this computer has its key, or POPROOM_ROOM_KEY is set, the page receives the key; otherwise you
enter it there.`,
    options: {
      url,
      port: takes('PORT', 'port on this machine (default: a random one)'),
      'no-open': { summary: 'print the link, and do not open a browser' },
      timeout: takes('TIME', 'give up if the server does not respond at the start for this long (default: 60s)'),
    },
    examples: [
      ['poproom ui', 'open the page'],
      ['poproom ui 7KQ2MX', 'open a room'],
      ['poproom ui --url https://pop.example.org --no-open', 'print the link for another server'],
    ],
    load: async () => (await import('./local/ui.ts')).ui,
  },
  mcp: {
    summary: 'let AI agents use rooms, by the Model Context Protocol on standard input and output',
    details: `An MCP client starts this command; docs/agents.md has the configuration for well-known ones. Agents can create and open
rooms, read, append and edit texts, list files and wait for changes. They use one server, which the command chooses as
all others do.

Without --folder, agents can neither send nor save files. With it, they can only use files in that folder, without
hidden names such as .env, and without symbolic links.

Keys, PINs and links with fewer rights stay in this process: an answer contains a key only if the agent asks for an
invitation with it. POPROOM_PIN and POPROOM_ROOM_KEY open rooms without telling the agent.`,
    options: {
      folder: takes('FOLDER', 'let agents send the files of this folder, and save files in it', { choices: 'file' }),
      url,
      timeout,
    },
    examples: [
      ['poproom mcp', 'texts only'],
      ['poproom mcp --folder ~/shared --url https://pop.example.org', 'with the files of a folder, on one server'],
    ],
    load: async () => (await import('./mcp/server.ts')).mcp,
  },
  recent: {
    args: '[forget CODE… | clear]',
    summary: 'list the rooms that you used on this machine',
    details: `Shows the code, the name, the server and the time left of up to 50 rooms, as far as they are known. It sends no request.
Completion offers these codes. The list is in the state folder, in a file that only you can read. To keep no list, run
"poproom config set recent off" or set POPROOM_RECENT=off.

For an encrypted room, this computer also remembers the salt, the expiry time and the newest version that it has seen,
and the key if it created the room. "poproom recent forget" and "poproom rm" erase that; "clear" does not. The command
erases it automatically when the room has been expired and unused for seven days.`,
    options: { codes: { summary: 'print only the codes of the rooms on the current server, for completion' }, json },
    examples: [
      ['poproom recent', 'list the rooms'],
      ['poproom recent forget 7KQ2MX', 'forget a room, and its key; the room itself is not deleted'],
      ['poproom recent clear', 'remove all of them'],
    ],
    choices: ['forget', 'clear'],
    load: async () => (await import('./local/recent.ts')).recent,
  },
  config: {
    args: 'list | get NAME | set NAME [VALUE] | unset NAME',
    summary: 'show and change the server, the API key and the password that commands use',
    details: `NAME is one of these:

  url                          URL of the server that commands use
  api-key                      API key for it
  create-password              password for creating rooms, if it requires one
  default                      name of a server below, which commands use instead of url
  server.NAME.url              URL of a further server; --url NAME selects it
  server.NAME.api-key          API key for it
  server.NAME.create-password  password for creating rooms on it
  recent                       on (default) or off: whether used rooms are remembered

Secrets are read from a prompt or from standard input, never from an argument, and are never shown in full. The file is
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
});

export const serverCommands = commandsIn({
  serve: {
    summary: 'start the server',
    details: 'Options override the environment variables PORT (or POPROOM_PORT), POPROOM_HOST and POPROOM_DATA_DIR.',
    options: {
      port: takes('PORT', 'port to listen on'),
      host: takes('ADDRESS', 'address to listen on'),
      data: takes('FOLDER', 'folder for the database, the files and the secret', { choices: 'file' }),
      'accept-new-secret': { summary: 'start although the secret has changed; PINs of existing rooms become invalid' },
    },
    examples: [
      ['poproom serve', 'use port 8080, and ./data for data'],
      ['poproom serve --port 80 --data /var/lib/poproom', 'use another port and folder'],
    ],
    load: async () => (await import('./server/serve.ts')).serve,
  },
  keys: {
    args: 'create NAME | list | revoke NAME|ID',
    summary: 'create, list and revoke API keys',
    details:
      'Run it with the settings of the server. A key is shown once, when it is created. Changes take effect within a second.',
    options: {
      tier: takes('TIER', 'tier of a new key: pro (default) or free', { choices: ['pro', 'free'] }),
      json,
    },
    examples: [
      ['poproom keys create build-server', 'create a key for 1,000 requests per hour'],
      ['poproom keys revoke build-server', 'revoke it'],
    ],
    choices: ['create', 'list', 'revoke'],
    load: async () => (await import('./server/keys.ts')).keys,
  },
  rooms: {
    args: '[list | show CODE | rm CODE…]',
    summary: 'list the rooms of this machine; list, show and remove those of a server',
    details: `Alone, it lists the rooms that you used on this machine, as "poproom recent" does. The actions are for operators: run
them with the settings of the server, whether or not the server is running. They show the age and size of each room and a
hash of the client that created it, as in the log; never a text, a name or an address. Codes are masked, because anyone
with a code can read the room. A running server removes a room within seconds.

With --admin, list (the default) and rm use the admin API of a running server, from anywhere; see "poproom admin --help".`,
    options: {
      admin: { summary: 'the rooms of a running server, over its admin API' },
      client: takes('HASH', 'only the rooms that this client created'),
      limit: takes('N', 'list the N largest rooms (default: 100; 0 lists all); with --admin at most 200'),
      offset: takes('N', 'with --admin: skip N entries of the list'),
      sort: takes('ORDER', 'with --admin: by size (default) or age'),
      url: takes('URL', 'with --admin: server, as a URL or a name from the config file'),
      timeout: takes('TIME', 'with --admin: give up if the server does not respond for this long'),
      reveal: { summary: 'show full codes' },
      yes: { short: 'y', summary: 'do not ask for confirmation' },
      json,
    },
    examples: [
      ['poproom rooms', 'list the rooms that you used on this machine'],
      ['poproom rooms list', 'list the largest rooms of the server'],
      ['poproom rooms --admin --sort age', 'list the oldest rooms of a running server'],
      ['poproom rooms show 7KQ2MX', 'show one room'],
      ['poproom rooms rm 7KQ2MX', 'delete it for everyone'],
      ['poproom rooms rm --client 3f9c0a51be77', 'delete all rooms of a client'],
    ],
    choices: ['list', 'show', 'rm'],
    load: async () => (await import('./server/rooms.ts')).rooms,
  },
  admin: {
    args: 'numbers | reveal ROOM | rm ROOM… | reports | dismiss ID… | clients | blocks | block RANGE | unblock ID | keys | revoke ID',
    summary: 'watch and control a running server over its admin API',
    details: `Works from anywhere, on servers that have POPROOM_ADMIN_TOKEN set. Set the same variable for this command, or type the token at
the prompt. The server is the one from --url, POPROOM_URL or the config file, or http://localhost:8080; the token is sent
to no other server.

ROOM is an ID from "poproom rooms --admin", a code or a link. Codes are masked until you reveal one, which the server logs. RANGE is an
address or a CIDR range. A range with your own address, or with the server itself, needs --force.`,
    options: {
      sort: takes('ORDER', 'clients by requests (default), refused or bytes'),
      hours: takes('N', 'numbers of the last N hours (default: 24); clients of the last N (default: 2)'),
      client: takes('HASH', 'with the earlier action rooms: only the rooms that this client created'),
      limit: takes('N', 'length of a list, up to 200 (default: 50)'),
      offset: takes('N', 'skip N entries of a list'),
      reason: takes('TEXT', 'why a range is blocked, as a note for operators'),
      expires: takes('TIME', 'end of a block, such as 2h or 3d (default: no end)'),
      force: { summary: 'block a range although it contains your own address or the server' },
      yes: { short: 'y', summary: 'do not ask for confirmation' },
      url: takes('URL', 'server, as a URL or a name from the config file'),
      timeout: takes('TIME', 'give up if the server does not respond for this long (default: 60s)'),
      json,
    },
    examples: [
      ['poproom admin numbers --hours 1', 'show the numbers of the last hour'],
      ['poproom admin clients --sort bytes', 'list the clients with the most traffic'],
      ['poproom admin block 198.51.100.0/24 --reason scraping --expires 1d', 'block a network for a day'],
      ['poproom admin unblock 198.51.100.0/24', 'unblock it'],
    ],
    choices: [
      ...['numbers', 'rooms', 'reveal', 'rm', 'reports', 'dismiss'],
      ...['clients', 'blocks', 'block', 'unblock', 'keys', 'revoke'],
    ],
    load: async () => (await import('./server/admin.ts')).admin,
  },
  backup: {
    args: 'FILE | restore FILE',
    summary: 'back up the data folder into one file, or restore it',
    details: `Run it with the settings of the server, as the user of the server. A backup is consistent while the server runs. It is a
tar file with the database, the files and the secret, and is never overwritten. Restoring needs a stopped server and an
empty data folder, and checks everything before it takes effect.`,
    options: { replace: { summary: 'with restore: replace the data in the folder' }, json },
    examples: [
      ['poproom backup /backup/poproom.tar', 'back up a running server'],
      ['POPROOM_DATA_DIR=/var/lib/poproom poproom backup restore /backup/poproom.tar', 'restore it into a new folder'],
    ],
    choices: 'file',
    load: async () => (await import('./server/backup.ts')).backup,
  },
  migrate: {
    args: '--from … --to …',
    summary: 'move all data to another engine or folder',
    details: `STORE is sqlite:FOLDER, or redis://HOST:PORT as in POPROOM_STORE. FILES is disk:FOLDER, or s3://BUCKET/PREFIX as in
POPROOM_FILES; with sqlite:FOLDER, the default is disk:FOLDER/files.

Stop the servers on both sides first. Existing data at the target is never overwritten, so after an interruption you
can run the same command again. At the end, every text and every file is compared; the exit code is 1 if anything
differs. For S3, set POPROOM_S3_ENDPOINT, POPROOM_S3_PATH_STYLE and the AWS variables.`,
    options: {
      from: takes('STORE', 'source of the rooms'),
      'from-files': takes('FILES', 'source of the files'),
      to: takes('STORE', 'target of the rooms'),
      'to-files': takes('FILES', 'target of the files'),
      json,
    },
    examples: [
      [
        'poproom migrate --from sqlite:./data --to redis://localhost:6379 --to-files s3://my-bucket/poproom',
        'move to a cluster',
      ],
      [
        'poproom migrate --from redis://localhost:6379 --from-files s3://my-bucket/poproom --to sqlite:./data',
        'move back',
      ],
      ['poproom migrate --from sqlite:./data --to sqlite:/mnt/data', 'move to another disk'],
    ],
    load: async () => (await import('./server/migrate.ts')).migrate,
  },
  doctor: {
    summary: 'check the setup of the server, and suggest fixes',
    details: `Run it with the settings of the server, whether or not the server is running. It checks the settings, the stores, the
disk, the clock and, if a server responds, the effects of a proxy in front of it. For each problem it suggests a fix.

With --url it checks only that server, from anywhere. The exit code is 1 if something is wrong. It is 8 if the server does
not respond, because the checks of a running server are then skipped.`,
    options: {
      url: takes('URL', 'public URL of the server (default: POPROOM_PUBLIC_URL, or this machine)'),
      json,
    },
    examples: [['poproom doctor --url https://pop.example.org', 'check through the proxy, as clients do']],
    load: async () => (await import('./server/doctor.ts')).doctor,
  },
  completion: {
    args: 'bash|zsh|fish',
    summary: 'print a completion script for your shell',
    examples: [
      ['source <(poproom completion bash)', 'add this line to ~/.bashrc'],
      ['source <(poproom completion zsh)', 'add this line to ~/.zshrc'],
      ['poproom completion fish | source', 'add this line to ~/.config/fish/config.fish'],
    ],
    choices: ['bash', 'zsh', 'fish'],
    load: async () => (await import('./completion.ts')).completionOf(commands),
  },
});

export const commands: readonly Command[] = [...roomCommands, ...cryptoCommands, ...localCommands, ...serverCommands];
