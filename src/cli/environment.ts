/** What the environment says to those who use rooms; the server's settings are read by `config.ts`. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface Environment {
  url: string | undefined;
  apiKey: string | undefined;
  pin: string | undefined;
  /** Where a person's settings are kept, and what a program remembers by itself. */
  configFolder: string;
  stateFolder: string;
  /** The one that commands given by a person run in. */
  shell: string;
  wantsColor: boolean;
  /** The folders of programs. */
  path: readonly string[];
  /** Whose clipboard there is. */
  windows: { wayland: boolean; x11: boolean; wsl: boolean };
}

export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): Environment {
  const folder = (name: string, standard: string) => join(env[name] || join(homedir(), standard), 'poproom');
  return {
    url: env.POPROOM_URL || undefined,
    apiKey: env.POPROOM_API_KEY || undefined,
    pin: env.POPROOM_PIN || undefined,
    configFolder: folder('XDG_CONFIG_HOME', '.config'),
    stateFolder: folder('XDG_STATE_HOME', '.local/state'),
    shell: env.SHELL || env.ComSpec || '/bin/sh',
    wantsColor: !env.NO_COLOR && env.TERM !== 'dumb',
    path: (env.PATH ?? '').split(delimiter).filter(Boolean),
    windows: {
      wayland: Boolean(env.WAYLAND_DISPLAY),
      x11: Boolean(env.DISPLAY),
      wsl: Boolean(env.WSL_DISTRO_NAME),
    },
  };
}

/** What a command that a person gave runs with: all that we have, and what it is to know. */
export function environmentWith(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...more };
}
