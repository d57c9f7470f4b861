/** All commands, in the order in which the help shows them. Their code is loaded only when one runs. */
import type { Command, Option } from './command.ts';

const json: Option = { does: 'print JSON, for programs' };
const url: Option = { value: 'ADDRESS', does: 'the server; else POPROOM_URL, the config file, or the last one used' };
const pin: Option = { does: 'ask for the PIN first; it is asked for anyway when the room wants one' };
const common = { url, json };
const inRoom = { pin, ...common };
const aboutCodes = 'CODE is a room code, in any case, with or without dashes, or the link of a room.';

export const roomCommands: readonly Command[] = [
  {
    name: 'new',
    takes: '',
    does: 'make a room',
    more: `Prints its code, its link and, on a terminal, a QR code to scan with the other device. What comes on standard
input becomes the text of the room.`,
    options: {
      pin: { does: 'protect it by a PIN of four digits: that of POPROOM_PIN, or you are asked for one' },
      expires: { value: 'TIME', does: 'how long it lives, such as 45m, 2h or 3d; up to the server otherwise' },
      'no-history': { does: 'keep no earlier texts of this room' },
      ...common,
    },
    examples: [
      ['poproom new', 'a room, with a QR code to scan'],
      ['poproom new --pin --expires 2h', 'for two hours, and only with a PIN'],
      ['poproom new < notes.txt', 'with a text in it'],
      ['code=$(poproom new)', 'in a pipe, the code alone'],
    ],
    load: async () => (await import('./room/new.ts')).makeRoom,
  },
  {
    name: 'put',
    takes: 'CODE [TEXT|-]',
    does: 'replace the text of a room, or add to its end',
    more: `${aboutCodes}\nWithout TEXT, or with -, the text is what comes on standard input.`,
    options: {
      append: { short: 'a', does: 'add to the end, and keep the text that is there' },
      'base-version': { value: 'N', does: 'only if the text still has this version, as "get --json" tells it' },
      ...inRoom,
    },
    examples: [
      ['poproom put 7KQ2MX "see you at 8"', 'a text'],
      ['git diff | poproom put 7KQ2MX', 'what another program writes'],
      ['date | poproom put 7KQ2MX --append', 'one more line'],
    ],
    load: async () => (await import('./room/put.ts')).put,
  },
  {
    name: 'get',
    takes: 'CODE',
    does: 'print the text of a room',
    more: `${aboutCodes}
A pipe gets it exactly as it is. On a terminal, what that would obey and not show is replaced by \u{FFFD}.`,
    options: inRoom,
    examples: [
      ['poproom get 7KQ2MX', 'on the screen'],
      ['poproom get 7KQ2MX | pbcopy', 'into the clipboard of a Mac'],
    ],
    load: async () => (await import('./room/get.ts')).get,
  },
  {
    name: 'history',
    takes: 'CODE [VERSION]',
    does: 'list the earlier texts of a room, or print one of them',
    more: `${aboutCodes}
The list shows the newest first. With VERSION, that text is printed as "poproom get" prints the current one.`,
    options: {
      delete: { does: 'delete all earlier texts, and keep the current one; asks first on a terminal' },
      yes: { short: 'y', does: 'do not ask' },
      ...inRoom,
    },
    examples: [
      ['poproom history 7KQ2MX', 'version, time, size and device of each'],
      ['poproom history 7KQ2MX 12', 'the text of version 12'],
      ['poproom history 7KQ2MX --delete', 'delete them all'],
    ],
    load: async () => (await import('./room/history.ts')).history,
  },
  {
    name: 'restore',
    takes: 'CODE VERSION',
    does: 'make an earlier text the current one again',
    more: `${aboutCodes}\nVERSION is one that "poproom history" lists.`,
    options: inRoom,
    examples: [['poproom restore 7KQ2MX 12', 'the text of version 12']],
    load: async () => (await import('./room/restore.ts')).restore,
  },
  {
    name: 'send',
    takes: 'CODE FILE…',
    does: 'upload files, of at most 10 MB each',
    more: `${aboutCodes}\nA FILE of - is standard input, which needs a --name.`,
    options: {
      name: { value: 'NAME', does: 'another name for the file' },
      type: { value: 'TYPE', does: 'its media type, such as text/csv; else by its name' },
      ...inRoom,
    },
    examples: [
      ['poproom send 7KQ2MX photo.jpg notes.pdf', 'two files'],
      ['tar c dir | poproom send 7KQ2MX - --name dir.tar', 'a folder'],
    ],
    choices: 'file',
    load: async () => (await import('./room/send.ts')).send,
  },
  {
    name: 'fetch',
    takes: 'CODE [NAME]',
    does: 'download the files of a room, or the one that is named',
    more: `${aboutCodes}
A file that is there is not overwritten, unless you say --force. A name that is hidden or special on a disk, such as
.bashrc, .git, -rf or CON, gets a _ in front; characters that cannot be seen are left out.`,
    options: {
      output: {
        short: 'o',
        value: 'PATH',
        does: 'the folder, or for one file its path; - is standard output',
        choices: 'file',
      },
      force: { short: 'f', does: 'overwrite what is there' },
      list: { short: 'l', does: 'only list the files' },
      ...inRoom,
    },
    examples: [
      ['poproom fetch 7KQ2MX', 'all files, into this folder'],
      ['poproom fetch 7KQ2MX dir.tar -o - | tar x', 'one file, into another program'],
    ],
    load: async () => (await import('./room/fetch.ts')).fetchFiles,
  },
  {
    name: 'watch',
    takes: 'CODE',
    does: 'print the text whenever it changes, until you press Ctrl-C',
    more: `${aboutCodes}\nWith --exec, a command runs on each text instead, one at a time, with the text on its standard input and\nPOPROOM_CODE and POPROOM_VERSION in its environment.`,
    options: {
      exec: { short: 'x', value: 'CMD', does: 'a command for the shell' },
      once: { does: 'wait for the next change, and end after it; with --exec, as the command ends' },
      ...inRoom,
    },
    examples: [
      ['poproom watch 7KQ2MX', 'on the screen'],
      ["poproom watch 7KQ2MX --exec 'cat > shared.txt'", 'into a file'],
      ['text=$(poproom watch 7KQ2MX --once)', 'the next text, when it comes'],
    ],
    load: async () => (await import('./room/watch.ts')).watch,
  },
  {
    name: 'clip',
    takes: 'CODE',
    does: 'keep the clipboard and the text of a room the same, until you press Ctrl-C',
    more: `${aboutCodes}\nIt needs pbcopy, wl-clipboard, xclip, xsel or on Windows PowerShell, whichever your system has.`,
    options: inRoom,
    examples: [['poproom clip 7KQ2MX', 'copy here, paste there']],
    load: async () => (await import('./room/clip.ts')).clip,
  },
  {
    name: 'info',
    takes: 'CODE',
    does: 'tell what is in a room and how long it lives',
    more: aboutCodes,
    options: inRoom,
    examples: [['poproom info 7KQ2MX', 'time left, devices, text, files']],
    load: async () => (await import('./room/info.ts')).info,
  },
  {
    name: 'rm',
    takes: 'CODE [NAME…]',
    does: 'delete a room with all that is in it, or only the files that are named',
    more: `${aboutCodes}\nOn a terminal you are asked first.`,
    options: { yes: { short: 'y', does: 'do not ask' }, ...inRoom },
    examples: [
      ['poproom rm 7KQ2MX', 'the room'],
      ['poproom rm 7KQ2MX photo.jpg', 'one file of it'],
    ],
    load: async () => (await import('./room/rm.ts')).remove,
  },
];

export const serverCommands: readonly Command[] = [
  {
    name: 'serve',
    takes: '',
    does: 'start the server',
    options: {},
    examples: [
      ['poproom serve', 'on port 8080, with its data in ./data'],
      ['PORT=80 POPROOM_DATA_DIR=/var/lib/poproom poproom serve', 'elsewhere'],
    ],
    load: async () => (await import('./server/serve.ts')).serve,
  },
  {
    name: 'keys',
    takes: 'create NAME | list | revoke NAME|ID',
    does: 'make, list and revoke API keys',
    more: 'Run it with the settings of the server. A key is shown once, when it is made; it holds within a second.',
    options: {
      tier: { value: 'TIER', does: 'of a new key: pro, which it is when not said, or free', choices: ['pro', 'free'] },
      json,
    },
    examples: [
      ['poproom keys create build-server', 'a key with 1,000 requests an hour'],
      ['poproom keys revoke build-server', 'no longer valid, within a second'],
    ],
    choices: ['create', 'list', 'revoke'],
    load: async () => (await import('./server/keys.ts')).keys,
  },
  {
    name: 'rooms',
    takes: 'list | show CODE | rm CODE…',
    does: 'show the rooms of the server, and remove some',
    more: `Run it with the settings of the server, whether that runs or not. It shows how old and how large rooms are, and a hash of
the client that created each of them, as in the log; never a text, a name or an address. Codes are masked, since anyone can
read a room with its code. A running server removes a room within seconds.`,
    options: {
      client: { value: 'HASH', does: 'only the rooms that this client created' },
      limit: { value: 'N', does: 'list the N largest rooms; 100 when not said, 0 for all' },
      reveal: { does: 'show whole codes' },
      yes: { short: 'y', does: 'do not ask' },
      json,
    },
    examples: [
      ['poproom rooms list', 'the largest rooms'],
      ['poproom rooms show 7KQ2MX', 'one room'],
      ['poproom rooms rm 7KQ2MX', 'delete it for everyone'],
      ['poproom rooms rm --client 3f9c0a51be77', 'delete all rooms of a client'],
    ],
    choices: ['list', 'show', 'rm'],
    load: async () => (await import('./server/rooms.ts')).rooms,
  },
  {
    name: 'migrate',
    takes: '--from … --to …',
    does: 'move everything to another engine, or another folder',
    more: `STORE is sqlite:FOLDER, or redis://HOST:PORT as in POPROOM_STORE. FILES is disk:FOLDER, or s3://BUCKET/PREFIX as in
POPROOM_FILES; for sqlite:FOLDER it is disk:FOLDER/files when not said.

Stop the servers of both ends first. What is there already is left alone and nothing is overwritten, so after an
interruption run the same command again. At the end every text and every file is compared; the exit code is 1 if
anything differs. S3 is reached with POPROOM_S3_ENDPOINT, POPROOM_S3_PATH_STYLE and the variables of AWS.`,
    options: {
      from: { value: 'STORE', does: 'where the rooms are' },
      'from-files': { value: 'FILES', does: 'where the files are' },
      to: { value: 'STORE', does: 'where the rooms go' },
      'to-files': { value: 'FILES', does: 'where the files go' },
      json,
    },
    examples: [
      [
        'poproom migrate --from sqlite:./data --to redis://localhost:6379 --to-files s3://my-bucket/poproom',
        'to a cluster',
      ],
      [
        'poproom migrate --from redis://localhost:6379 --from-files s3://my-bucket/poproom --to sqlite:./data',
        'and back',
      ],
      ['poproom migrate --from sqlite:./data --to sqlite:/mnt/data', 'to another disk'],
    ],
    load: async () => (await import('./server/migrate.ts')).migrate,
  },
  {
    name: 'doctor',
    takes: '',
    does: 'look whether everything that the server needs is as it should be',
    more: `Run it with the settings of the server, whether that runs or not. It looks at the settings, the stores, the disk, the
clock and, where a server answers, the headers of the proxy before it; of each it says whether it is well, and how to mend it.`,
    options: {
      url: {
        value: 'ADDRESS',
        does: 'where people reach the server; POPROOM_PUBLIC_URL or this machine when not said',
      },
      json,
    },
    examples: [['poproom doctor --url https://pop.example.org', 'through the proxy, as people do']],
    load: async () => (await import('./server/doctor.ts')).doctor,
  },
  {
    name: 'completion',
    takes: 'bash|zsh|fish',
    does: 'print a script that completes commands and options in your shell',
    options: {},
    examples: [
      ['source <(poproom completion bash)', 'in ~/.bashrc'],
      ['source <(poproom completion zsh)', 'in ~/.zshrc'],
      ['poproom completion fish | source', 'in ~/.config/fish/config.fish'],
    ],
    choices: ['bash', 'zsh', 'fish'],
    load: async () => (await import('./completion.ts')).completionOf(commands),
  },
];

export const commands: readonly Command[] = [...roomCommands, ...serverCommands];
