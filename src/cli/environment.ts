/** The environment variables of the client commands. `config.ts` reads those of the server. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface Environment {
  url: string | undefined;
  apiKey: string | undefined;
  /** For creating rooms, if the server requires it. */
  createPassword: string | undefined;
  /** For `poproom admin`. */
  adminToken: string | undefined;
  pin: string | undefined;
  /** The key of an encrypted room. */
  roomKey: string | undefined;
  /** For `poproom set --new-pin`. */
  newPin: string | undefined;
  /** The longest silence of a server, such as `30s`. */
  timeout: string | undefined;
  /** Whether links to this machine become links to its address in the local network. */
  usesLanLinks: boolean;
  /** Whether used rooms are remembered. */
  keepsRecentRooms: boolean;
  /** Of the config file, which `poproom config` writes. */
  configFolder: string;
  /** Of state that the CLI keeps, such as the last server used. */
  stateFolder: string;
  /** Runs the command of `watch --exec`. */
  shell: string;
  wantsColor: boolean;
  /** Folders to search for programs. */
  path: readonly string[];
  /** Decides which clipboard programs can work. */
  desktop: { wayland: boolean; x11: boolean; wsl: boolean };
}

export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): Environment {
  const folder = (name: string, standard: string) => join(env[name] || join(homedir(), standard), 'poproom');
  return {
    url: env.POPROOM_URL || undefined,
    apiKey: env.POPROOM_API_KEY || undefined,
    createPassword: env.POPROOM_CREATE_PASSWORD || undefined,
    adminToken: env.POPROOM_ADMIN_TOKEN || undefined,
    pin: env.POPROOM_PIN || undefined,
    roomKey: env.POPROOM_ROOM_KEY || undefined,
    newPin: env.POPROOM_NEW_PIN || undefined,
    timeout: env.POPROOM_TIMEOUT || undefined,
    usesLanLinks: !isOff(env.POPROOM_LAN_LINK),
    keepsRecentRooms: !isOff(env.POPROOM_RECENT),
    configFolder: folder('XDG_CONFIG_HOME', '.config'),
    stateFolder: folder('XDG_STATE_HOME', '.local/state'),
    shell: env.SHELL || env.ComSpec || '/bin/sh',
    wantsColor: !env.NO_COLOR && env.TERM !== 'dumb',
    path: (env.PATH ?? '').split(delimiter).filter(Boolean),
    desktop: {
      wayland: Boolean(env.WAYLAND_DISPLAY),
      x11: Boolean(env.DISPLAY),
      wsl: Boolean(env.WSL_DISTRO_NAME),
    },
  };
}

const isOff = (value: string | undefined) => ['off', 'false', 'no', '0'].includes(value?.toLowerCase() ?? '');

/** The environment for a command that the user gave. */
export function environmentWith(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...more };
}
