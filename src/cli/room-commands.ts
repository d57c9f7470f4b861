/** The commands that use a room, in the order of the help. The code of a command is loaded only when it runs. */
import { maxNameLength } from '../protocol/limits.ts';
import { type Command, type CommandTable, commandsIn, json, type Option, takes, takesCode } from './command.ts';

export const url = takes(
  'URL',
  'server to use, as a URL or a name from the config file (default: POPROOM_URL, the config file, or the last server used)',
);
export const timeout = takes(
  'TIME',
  'give up if the server does not respond for this long, such as 30s or 5m; 0 waits forever (default: 60s)',
);
const pin: Option = { summary: 'prompt for the PIN first; without this option, only if the room requires one' };
const noPin: Option = { summary: 'create the room without a PIN, even if POPROOM_PIN is set' };
const noLan: Option = { summary: 'do not replace localhost in the link by the address of this machine in its network' };
const roomOptions = { pin, url, timeout, json };
/** The help of every command that takes a room code has this. The guide and the man page have it once. */
export const codeHelp = `CODE is a room code, in upper or lower case, with or without dashes, or the link of a room. With -, it is read from
standard input. A link with a role (see "poproom link") works too, for what it allows. The key of an encrypted room, whose
code starts with E, comes from this computer if it created the room, from POPROOM_ROOM_KEY, or from a prompt.`;

/** They take a code, unless they have other `args`. Their own options come first, and replace shared ones. */
const commandsWithCode = (shared: Command['options'], table: CommandTable): readonly Command[] =>
  commandsIn(table, 'CODE').map((command) => ({
    ...command,
    ...(takesCode(command) && { details: [codeHelp, command.details].filter(Boolean).join('\n') }),
    options: { ...command.options, ...shared, ...command.options },
  }));

export const roomCommands = commandsWithCode(roomOptions, {
  new: {
    args: '[-]',
    summary: 'create a room',
    details: `Prints the code and, on a terminal, also the link and a QR code to scan with another device. If the server is on this
machine, the link has the address of the machine in its network, so that a phone can open it; POPROOM_LAN_LINK=off
disables this.

If standard input is a pipe or a file, it becomes the text of the room, unless a shell loop is reading the file. In a
loop that reads a pipe, use --no-input. With -, standard input is always the text.

If POPROOM_PIN is set and neither --pin nor --no-pin is given, the command asks on a terminal whether to use it, and
elsewhere creates a room without a PIN and says so.`,
    options: {
      pin: { summary: 'protect the room with a four-digit PIN, from POPROOM_PIN or a prompt' },
      'no-pin': noPin,
      expires: takes('TIME', 'keep the room for this long, such as 45m, 2h or 3d (default: set by the server)'),
      extend: { summary: 'with each change of the text and each new file, keep the room for this long again' },
      name: takes('TEXT', `name of the room, up to ${maxNameLength.room} characters`),
      encrypted: {
        short: 'e',
        summary: 'encrypt the room, so that the server cannot read it; it has a key, not a PIN',
      },
      'no-history': { summary: 'keep no history of the text' },
      'no-input': { summary: 'do not read standard input' },
      'no-lan': noLan,
    },
    examples: [
      ['poproom new', 'create a room and show its QR code'],
      ['poproom new --pin --expires 2h', 'keep it for two hours, and require a PIN'],
      ['poproom new --name "Kitchen table"', 'give it a name'],
      ['poproom new --expires 7d --extend', 'keep it until nobody has changed it for a week'],
      ['poproom new --encrypted', 'encrypt it; this computer keeps the key, others ask for it'],
      ['poproom new < notes.txt', 'start with the text of a file'],
      ['code=$(poproom new)', 'in a script: get only the code'],
    ],
    load: async () => (await import('./room/new.ts')).createRoom,
  },
  put: {
    args: 'CODE [TEXT|-]',
    summary: 'replace the text of a room, or append to it',
    details: 'Without TEXT, or with -, the text is read from standard input.',
    options: {
      append: { short: 'a', summary: 'append to the current text instead of replacing it' },
      'base-version': takes('N', 'write only if the text still has this version; "get --json" shows it'),
    },
    examples: [
      ['poproom put 7KQ2MX "see you at 8"', 'write a text'],
      ['git diff | poproom put 7KQ2MX', 'write the output of another command'],
      ['date | poproom put 7KQ2MX --append', 'append a line'],
    ],
    load: async () => (await import('./room/text.ts')).put,
  },
  get: {
    summary: 'print the text of a room',
    details: 'A pipe receives the exact text. On a terminal, control and invisible characters are shown as \u{FFFD}.',
    examples: [
      ['poproom get 7KQ2MX', 'print the text'],
      ['poproom get 7KQ2MX | pbcopy', 'copy it to the clipboard on macOS'],
    ],
    load: async () => (await import('./room/text.ts')).get,
  },
  history: {
    args: 'CODE [VERSION]',
    summary: 'list the earlier texts of a room, or print one of them',
    details:
      'The newest text is listed first. With VERSION, that text is printed as "poproom get" prints the current one.',
    options: {
      delete: { summary: 'delete all earlier texts, but not the current one; asks for confirmation on a terminal' },
      yes: { short: 'y', summary: 'do not ask for confirmation' },
    },
    examples: [
      ['poproom history 7KQ2MX', 'list version, time, size and device'],
      ['poproom history 7KQ2MX 12', 'print version 12'],
      ['poproom history 7KQ2MX --delete', 'delete the history'],
    ],
    load: async () => (await import('./room/text.ts')).history,
  },
  restore: {
    args: 'CODE VERSION',
    summary: 'make an earlier text the current one again',
    details: 'VERSION is a version from "poproom history".',
    examples: [['poproom restore 7KQ2MX 12', 'restore version 12']],
    load: async () => (await import('./room/text.ts')).restore,
  },
  send: {
    args: '[CODE] FILE…',
    summary: 'upload files, or folders with -r, to a room or to a new one',
    details: `Without CODE, the command creates a room and prints its code first, on a terminal with the link and a QR code. The first
argument is a file if it exists, and otherwise the room; if it could be both, the command asks you to be explicit.

If FILE is -, standard input is uploaded; --name is then required. After an interruption, run the same command again: it
continues where it stopped. With -r, a small file .poproom-folder.json keeps modification times, executable files and
empty folders for "poproom fetch". "poproom info" shows how large a file may be, and how much fits into the room.`,
    options: {
      recursive: { short: 'r', summary: 'send the files in folders; symbolic links are not followed' },
      tar: { summary: 'send all files and folders as one tar archive, for example many small files' },
      once: { summary: 'send one-time files: each is erased when someone has received it' },
      note: takes('TEXT', 'send a note, as a text file; also without any FILE'),
      name: takes('NAME', 'name of the file in the room; only with a single file'),
      type: takes('TYPE', 'media type, such as text/csv (default: based on the name)'),
      to: takes('CODE', 'room to send to; all arguments are then files'),
      pin: { summary: 'prompt for the PIN of the room first, or protect the new room with a PIN' },
      'no-pin': noPin,
      expires: takes('TIME', 'keep the new room for this long, such as 45m, 2h or 3d'),
      'no-lan': noLan,
    },
    examples: [
      ['poproom send photo.jpg', 'create a room, show its QR code and upload a file'],
      ['poproom send 7KQ2MX photo.jpg notes.pdf', 'upload two files'],
      ['poproom send -r 7KQ2MX photos', 'upload all files of a folder'],
      ['poproom send --once 7KQ2MX id_ed25519.pub', 'upload a file that can be received once'],
      ['poproom send --tar 7KQ2MX project', 'upload a folder as one tar archive'],
      ['pg_dump app | poproom send 7KQ2MX - --name app.sql', 'upload the output of another command'],
      ['poproom send 4VNR8M2KQX7D5HWT9CJZ3BPA photo.jpg --note "From Ada"', 'add a file and a note with a drop link'],
    ],
    choices: 'file',
    load: async () => (await import('./room/send.ts')).send,
  },
  fetch: {
    args: 'CODE [NAME]',
    summary: 'download all files of a room, or one of them',
    details: `Existing files are not overwritten: the command fails before the first download, unless --existing says otherwise. A
target folder that ends with / is created. Names that are hidden or special, such as .bashrc, .git, -rf or CON, get the
prefix _. Invisible characters are removed from names.

Files that were sent with their folders are written to folders of the same names, with their modification times, and
executable if they were. A folder that does not exist yet keeps hidden names; the command warns about files in it that
programs may run automatically, such as .git/hooks and .envrc. After an interruption, run the same command again: it
requests only what is missing.

NAME is a name, a path such as photos/a.jpg, or an id. A one-time file is received only if it is named, or with --once:
it is then erased from the room. With --zip, the archive is written to poproom-CODE.zip, or to the path of --output. It
does not contain one-time files.`,
    options: {
      output: takes('PATH', 'target folder, or path for a single file; FOLDER/ is created; - is standard output', {
        short: 'o',
        choices: 'file',
      }),
      zip: { short: 'z', summary: 'download all files as one zip archive' },
      existing: takes(
        'CHOICE',
        'for files that already exist: skip, rename (to "a (2).jpg"), overwrite or fail (default)',
        { choices: ['skip', 'rename', 'overwrite', 'fail'] },
      ),
      force: { short: 'f', summary: 'overwrite existing files, as --existing overwrite does' },
      'keep-names': { summary: 'do not change hidden and special names; use it only with files that you trust' },
      once: { summary: 'also receive all one-time files' },
      list: { short: 'l', summary: 'list the files without downloading them' },
    },
    examples: [
      ['poproom fetch 7KQ2MX', 'download all files to the current folder'],
      ['poproom fetch 7KQ2MX -o photos/ --existing skip', 'download only what is missing in a folder'],
      ['poproom fetch 7KQ2MX dir.tar -o - | tar x', 'pipe one file into another command'],
      ['poproom fetch 7KQ2MX --zip -o photos.zip', 'download all files as a zip archive'],
    ],
    load: async () => (await import('./room/fetch.ts')).fetchFiles,
  },
  watch: {
    summary: 'print the text whenever it changes, until you press Ctrl-C',
    details:
      'With --exec, each text is passed to a command on standard input instead, one at a time. The command also gets the\nenvironment variables POPROOM_CODE and POPROOM_VERSION.',
    options: {
      exec: takes('CMD', 'shell command to run for each text', { short: 'x' }),
      files: { summary: 'print added and removed files instead of the text' },
      once: { summary: 'exit after the next change; with --exec, with the exit code of the command' },
    },
    examples: [
      ['poproom watch 7KQ2MX', 'print each text'],
      ["poproom watch 7KQ2MX --exec 'cat > shared.txt'", 'keep a file up to date'],
      ['text=$(poproom watch 7KQ2MX --once)', 'wait for the next text'],
      ['poproom watch 7KQ2MX --files --once', 'wait for the next file'],
    ],
    load: async () => (await import('./room/watch.ts')).watch,
  },
  clip: {
    summary: 'sync the clipboard with the text of a room, until you press Ctrl-C',
    details: 'Requires pbcopy (macOS), wl-clipboard, xclip or xsel (Linux), or PowerShell (Windows).',
    examples: [['poproom clip 7KQ2MX', 'copy here, paste there']],
    load: async () => (await import('./room/clip.ts')).clip,
  },
  info: {
    summary: 'show what is in a room and when it expires',
    examples: [['poproom info 7KQ2MX', 'show time left, devices, text and files']],
    load: async () => (await import('./room/info.ts')).info,
  },
  set: {
    summary: 'change when a room expires, its PIN or its name',
    details: `All devices in the room are notified, and stay in it. With a new PIN, everyone else needs that PIN to join. The new PIN
comes from a prompt or from POPROOM_NEW_PIN, and the current one from a prompt or from POPROOM_PIN.`,
    options: {
      expires: takes(
        'TIME',
        'keep the room for this long from now, such as 45m, 2h or 3d; this can be longer or shorter than before',
      ),
      extend: { summary: 'with each change of the text and each new file, keep the room for its lifetime again' },
      'no-extend': { summary: 'let the room expire, even if it is used' },
      name: takes('TEXT', `name of the room, up to ${maxNameLength.room} characters; "" removes it`),
      'new-pin': { summary: 'set or change the PIN' },
      'no-pin': { summary: 'remove the PIN' },
    },
    examples: [
      ['poproom set 7KQ2MX --expires 3d', 'keep the room for three more days'],
      ['poproom set 7KQ2MX --name "Kitchen table"', 'give it a name'],
      ['poproom set 7KQ2MX --new-pin', 'prompt for a new PIN'],
      ['poproom set 7KQ2MX --no-pin', 'remove the PIN'],
    ],
    load: async () => (await import('./room/info.ts')).set,
  },
  link: {
    args: 'CODE --read|--drop',
    summary: 'create a link that can only read a room, or only add files to it',
    details: `Prints the link and, on a terminal, also a QR code. With --read, its holders can read the text and the files. With
--drop, they can add files and notes, and see nothing of the room. Neither reveals the room code, or needs the PIN.
A link ends with its room, or when you revoke it with "poproom unlink".

A link to an encrypted room has keys after #. Those of a read link open the room to everyone who sees them, so pass the
link on with care. The key of a drop link can only encrypt.`,
    options: {
      read: { summary: 'a link that can read the text and the files' },
      drop: { summary: 'a link that can add files, and see nothing' },
      name: takes('TEXT', `name of the link, up to ${maxNameLength.device} characters; droppers see it`),
      expires: takes('TIME', 'end the link after this time, such as 45m, 2h or 3d (default: with the room)'),
      'no-lan': noLan,
    },
    examples: [
      ['poproom link 7KQ2MX --read', 'let others read'],
      ['poproom link 7KQ2MX --drop --name "Party photos" --expires 3d', 'collect files for three days'],
      ['link=$(poproom link 7KQ2MX --read)', 'in a script: get only the link'],
    ],
    load: async () => (await import('./room/info.ts')).createLink,
  },
  links: {
    args: 'CODE [LINK]',
    summary: 'list the links of a room, or show one of them again',
    details:
      'Shows the role, the expiry, the last use and the name of each link. With LINK, its URL and its QR code are shown again.',
    options: { 'no-lan': noLan },
    examples: [
      ['poproom links 7KQ2MX', 'list the links'],
      ['poproom links 7KQ2MX 4VNR8M2KQX7D5HWT9CJZ3BPA', 'show one of them'],
    ],
    load: async () => (await import('./room/info.ts')).listLinks,
  },
  unlink: {
    args: 'CODE LINK',
    summary: 'revoke a link, for everyone who has it',
    details: `LINK is a link from "poproom links". Its holders are disconnected, and its unfinished uploads are removed. Files that
were added with it stay.`,
    examples: [['poproom unlink 7KQ2MX 4VNR8M2KQX7D5HWT9CJZ3BPA', 'revoke a link']],
    load: async () => (await import('./room/info.ts')).revokeLink,
  },
  webhook: {
    args: 'CODE [URL|-]',
    summary: 'list the webhooks of a room, or create or delete one',
    details: `The server sends the events of the room to URL. Its operator must have allowed the host. With -, the URL is read from
standard input, so that a token in it is not in the shell history. The command prints the secret that the requests are
signed with, which is not shown again. Without URL, it lists the webhooks with their last delivery and last error.`,
    options: {
      events: takes('LIST', 'events to send: text, file, device, room, separated by commas (default: all)'),
      delete: takes('ID', 'delete the webhook with this id'),
    },
    examples: [
      ['poproom webhook 7KQ2MX https://hooks.example.org/kitchen --events text,file', 'create a webhook'],
      ['poproom webhook 7KQ2MX - < url.txt', 'create one, with the URL in a file'],
      ['poproom webhook 7KQ2MX', 'list the webhooks'],
      ['poproom webhook 7KQ2MX --delete 1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10', 'delete one'],
    ],
    load: async () => (await import('./room/info.ts')).webhook,
  },
  rm: {
    args: 'CODE [FILE…]',
    summary: 'delete a room with everything in it, or only the named files',
    details: `On a terminal, asks for confirmation before deleting a room. FILE is a name, a path such as photos/a.jpg, or an id. A
file can be restored for 60 seconds after its removal, unless its space is needed.`,
    options: {
      undo: { summary: 'restore removed files; FILE is then the id that their removal printed' },
      yes: { short: 'y', summary: 'do not ask for confirmation' },
    },
    examples: [
      ['poproom rm 7KQ2MX', 'delete the room'],
      ['poproom rm 7KQ2MX photo.jpg', 'delete one of its files'],
      ['poproom rm 7KQ2MX --undo 0f8b6a9e4c2d41f7a3b5c6d7e8f90123', 'restore it'],
    ],
    load: async () => (await import('./room/info.ts')).remove,
  },
});

/** For programs that send their own requests. `poproom help crypto` lists them. */
export const cryptoCommands = commandsWithCode(
  { url },
  {
    seal: {
      summary: 'encrypt standard input for requests to an encrypted room, such as those of curl',
      details: `Prints the sealed text that replaces the current one, or with --name the encrypted bytes of a file. --auth prints the
header that every request needs.`,
      options: {
        auth: { summary: 'print only the header X-Room-Auth, for "curl -H @FILE"' },
        base: takes(
          'FILE',
          'response of GET …/content; the new text replaces this one (default: a room without a text)',
          { choices: 'file' },
        ),
        name: takes('NAME', 'encrypt a file of this name; needs --meta'),
        type: takes('TYPE', 'media type of the file (default: application/octet-stream)'),
        meta: takes('FILE', 'write the header X-File-Meta of the file to this path', { choices: 'file' }),
      },
      examples: [
        ['poproom seal E7KQ2MX --auth > auth.txt', 'get the header for curl'],
        ['poproom seal E7KQ2MX --base content.json < notes.txt', 'seal a text'],
        ['poproom seal E7KQ2MX --name a.jpg --meta meta.txt < a.jpg > a.sealed', 'encrypt a file'],
      ],
      load: async () => (await import('./room/sealing.ts')).seal,
    },
    open: {
      summary: 'decrypt a response of an encrypted room on standard input',
      details: `Standard input is the response of GET …/content, of GET …/history/VERSION or of GET …/files, or with --meta the bytes of
a file. If the response was tampered with, nothing is printed; of a file, only the bytes before the change.`,
      options: { meta: takes('META', 'decrypt a file; META is its "meta" in GET …/files') },
      examples: [
        ['poproom open E7KQ2MX < content.json', 'print the text'],
        ['poproom open E7KQ2MX < files.json', 'list names, sizes and types as JSON'],
      ],
      load: async () => (await import('./room/sealing.ts')).open,
    },
  },
);
