/** The environment variables of the client commands. `config.ts` reads those of the server. */
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { keyIn } from './command.ts';

export type Environment = ReturnType<typeof readEnvironment>;

export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env) {
  const folder = (name: string, standard: string) => join(env[name] || join(homedir(), standard), 'poproom');
  return {
    url: env.POPROOM_URL || undefined,
    apiKey: env.POPROOM_API_KEY || undefined,
    createPassword: env.POPROOM_CREATE_PASSWORD || undefined,
    adminToken: env.POPROOM_ADMIN_TOKEN || undefined,
    pin: env.POPROOM_PIN || undefined,
    roomKey: env.POPROOM_ROOM_KEY ? keyIn(env.POPROOM_ROOM_KEY) : undefined,
    newPin: env.POPROOM_NEW_PIN || undefined,
    /** The longest silence of a server, such as `30s`. */
    timeout: env.POPROOM_TIMEOUT || undefined,
    /** Whether links to this machine become links to its address in the local network. */
    usesLanLinks: !isOff(env.POPROOM_LAN_LINK),
    keepsRecentRooms: !isOff(env.POPROOM_RECENT),
    /** Of the config file, which `poproom config` writes. */
    configFolder: folder('XDG_CONFIG_HOME', '.config'),
    /** Of state that the CLI keeps, such as the last server used. */
    stateFolder: folder('XDG_STATE_HOME', '.local/state'),
    /** Runs the command of `watch --exec`. */
    shell: env.SHELL || env.ComSpec || '/bin/sh',
    wantsColor: !env.NO_COLOR && env.TERM !== 'dumb',
    /** Folders to search for programs. */
    path: (env.PATH ?? '').split(delimiter).filter(Boolean),
    /** Decides which clipboard programs can work. */
    desktop: { wayland: Boolean(env.WAYLAND_DISPLAY), x11: Boolean(env.DISPLAY), wsl: Boolean(env.WSL_DISTRO_NAME) },
  };
}

const isOff = (value: string | undefined) => ['off', 'false', 'no', '0'].includes(value?.toLowerCase() ?? '');

/** The environment for a command that the user gave. */
export const environmentWith = (more: Readonly<Record<string, string>>) => ({ ...process.env, ...more });

export type Program = readonly [name: string, ...args: string[]];

export function isInstalled({ path }: Environment, [name]: Program): boolean {
  return path.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
