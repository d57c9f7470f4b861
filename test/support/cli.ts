/** The built command as a person runs it: with its own home folder, in a pipe or on a terminal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';

const command = fileURLToPath(new URL('../../bin/poproom.js', import.meta.url));
const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const patienceMs = 30_000;

type Env = Readonly<Record<string, string>>;

export interface Running {
  readonly pid: number;
  /** So far; on a terminal, all that it shows, with `\r\n` and what moves the cursor. */
  stdout(): string;
  stderr(): string;
  bytes(): Buffer;
  /** Waits until it has written this, on either of the two. */
  shows(text: string | RegExp): Promise<void>;
  /** Keys on a terminal, such as `1234\r`, or `\x03` for Ctrl-C; elsewhere more on standard input. */
  type(keys: string | Uint8Array): void;
  endInput(): void;
  signal(signal: NodeJS.Signals): void;
  /** When it has ended and all that it wrote has been read. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  /** Undefined where a signal ended it. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface Surroundings {
  /** On standard input; nothing, as from `/dev/null`, when not said. `open` is for what `type` gives. */
  stdin?: string | Uint8Array | 'open';
  env?: Env;
  cwd?: string;
}

export interface Cli {
  /** Its home, and where it runs when nothing else is said. */
  readonly home: string;
  /** Programs in here come before those of the system. */
  readonly bin: string;
  /** Runs `poproom` to its end, without a terminal. */
  run(args: readonly string[], surroundings?: Surroundings): Promise<Ended>;
  /** The same, to be looked at on its way. */
  start(args: readonly string[], surroundings?: Surroundings): Running;
  /** Any line for `sh`, in which `poproom` is the built command. */
  shell(line: string, surroundings?: Surroundings): Running;
  /** A line on a terminal, where standard input, output and errors are one. */
  terminal(line: string, surroundings?: Omit<Surroundings, 'stdin'> & { columns?: number }): Running;
}

/** Everything it started is ended, and its folder removed, when the test is over. */
export async function createCli(t: TestContext, env: Env = {}): Promise<Cli> {
  if (!existsSync(built)) throw new Error('The command is not built yet: run "npm run build" before these tests.');
  const folder = await mkdtemp(join(tmpdir(), 'poproom-cli-'));
  const [home, bin] = [join(folder, 'home'), join(folder, 'bin')];
  await Promise.all([mkdir(home), mkdir(bin)]);
  await writeFile(join(bin, 'poproom'), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  await chmod(join(bin, 'poproom'), 0o755);
  const started: Started[] = [];
  t.after(async () => {
    await Promise.all(started.map((one) => one.end()));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  function launch([program = '', ...args]: readonly string[], { stdin, env: more = {}, cwd = home }: Surroundings) {
    // Nothing of the tester's own gets in: neither settings, nor folders, nor a terminal to ask for a PIN, which a
    // process in a session of its own does not have.
    const child = spawn(program, args, {
      cwd,
      detached: true,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: { ...ownEnvironment(home, bin), ...env, ...more },
    });
    const one = follow(child);
    started.push(one);
    if (stdin !== undefined && stdin !== 'open') child.stdin?.end(stdin);
    return one;
  }

  return {
    home,
    bin,
    run: (args, surroundings = {}) => launch([process.execPath, command, ...args], surroundings).ended,
    start: (args, surroundings = {}) => launch([process.execPath, command, ...args], surroundings),
    shell: (line, surroundings = {}) => launch(['/bin/sh', '-c', line], surroundings),
    terminal(line, { columns = 80, ...surroundings } = {}) {
      // util-linux's: -e hands on the exit code; what is typed is echoed by the command alone, or not at all. By exec,
      // Ctrl-C finds no shell that would end in a way of its own.
      const typed = `stty rows 24 cols ${columns}; exec ${line}`;
      return launch(['script', '-qe', '-E', 'never', '-c', typed, '/dev/null'], { ...surroundings, stdin: 'open' });
    },
  };
}

function ownEnvironment(home: string, bin: string): Env {
  const { PATH = '' } = process.env;
  return {
    PATH: `${bin}:${PATH}`,
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_STATE_HOME: join(home, '.local/state'),
    SHELL: '/bin/sh',
    TERM: 'xterm',
    LANG: 'C.UTF-8',
  };
}

interface Started extends Running {
  end(): Promise<unknown>;
}

function follow(child: ChildProcess): Started {
  const [bytes, errors] = [collect(child, 'stdout'), collect(child, 'stderr')];
  const stdout = () => bytes().toString('utf8');
  const stderr = () => errors().toString('utf8');
  let isOver = false;
  const ended = once(child, 'close').then(([code]): Ended => {
    isOver = true;
    return { code: code ?? undefined, stdout: stdout(), stderr: stderr() };
  });
  // It may end before all of its input is taken.
  child.stdin?.on('error', () => undefined);
  const has = (text: string | RegExp) =>
    [stdout(), stderr()].some((said) => (typeof text === 'string' ? said.includes(text) : text.test(said)));

  return {
    pid: child.pid as number,
    stdout,
    stderr,
    bytes,
    ended,
    async shows(text) {
      const look = () => has(text) || (isOver && 'over');
      const seen = await eventually(`it shows ${text}; so far: ${stdout()}${stderr()}`, look, patienceMs);
      if (seen === 'over' && !has(text)) throw new Error(`It ended without showing ${text}: ${stdout()}${stderr()}`);
    },
    type: (keys) => void child.stdin?.write(keys),
    endInput: () => void child.stdin?.end(),
    signal: (signal) => void child.kill(signal),
    end() {
      if (!isOver) killGroup(child.pid as number);
      return ended;
    },
  };
}

/** A shell or a terminal has children of its own. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // It has ended by itself meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): () => Buffer {
  const chunks: Buffer[] = [];
  child[name]?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks);
}
