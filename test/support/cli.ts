/** The built command as a person runs it: with its own home folder, in a pipe or on a terminal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { canRunInProcess, runInProcess } from './command-in-process.ts';
import { eventually } from './eventually.ts';

const command = fileURLToPath(new URL('../../bin/poproom.js', import.meta.url));
const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const timeoutMs = 30_000;

type Env = Readonly<Record<string, string>>;

export interface CliProcess {
  readonly pid: number;
  /** The output so far. On a terminal, it includes `\r\n` and escape sequences. */
  stdout(): string;
  stderr(): string;
  bytes(): Buffer;
  /** Waits for this text on standard output or standard error. */
  waitForOutput(text: string | RegExp): Promise<void>;
  /** Sends keys to a terminal, such as `1234\r`, or `\x03` for Ctrl-C. Without a terminal, writes to standard input. */
  type(keys: string | Uint8Array): void;
  endInput(): void;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process has exited and all output has been read. */
  readonly result: Promise<CliResult>;
}

export interface CliResult {
  /** Undefined after a signal. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** The standard input; `/dev/null` by default. `open` keeps it open for `type`. */
  stdin?: string | Uint8Array | 'open';
  env?: Env;
  cwd?: string;
}

export interface Cli {
  /** The home folder, and the default working directory. */
  readonly home: string;
  /** The first folder in the PATH. */
  readonly bin: string;
  /** Runs `poproom` to its end, without a terminal, in this process if possible. */
  run(args: readonly string[], options?: RunOptions): Promise<CliResult>;
  /** Starts `poproom`, without a terminal. */
  start(args: readonly string[], options?: RunOptions): CliProcess;
  /** Starts a line in `sh`, in which `poproom` is the built command. */
  shell(line: string, options?: RunOptions): CliProcess;
  /** Starts a line on a terminal, which combines standard input, output and errors. */
  terminal(line: string, options?: Omit<RunOptions, 'stdin'> & { columns?: number }): CliProcess;
}

/** After the test, all processes are killed and the folder is removed. */
export async function createCli(t: TestContext, env: Env = {}): Promise<Cli> {
  if (!existsSync(built)) throw new Error('The command is not built yet: run "npm run build" before these tests.');
  const folder = await mkdtemp(join(tmpdir(), 'poproom-cli-'));
  const [home, bin] = [join(folder, 'home'), join(folder, 'bin')];
  await Promise.all([mkdir(home), mkdir(bin)]);
  await writeFile(join(bin, 'poproom'), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  await chmod(join(bin, 'poproom'), 0o755);
  const started: OwnedProcess[] = [];
  t.after(async () => {
    await Promise.all(started.map((child) => child.end()));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const environmentFor = (more: Env) => ({ ...ownEnvironment(home, bin), ...env, ...more });

  async function run(args: readonly string[], options: RunOptions = {}): Promise<CliResult> {
    const { stdin, env: more = {}, cwd = home } = options;
    if (stdin === 'open') return start(args, options).result;
    const command = { args, env: environmentFor(more), cwd, stdin };
    return canRunInProcess(command) ? runInProcess(command) : start(args, options).result;
  }

  const start = (args: readonly string[], options: RunOptions = {}) =>
    launch([process.execPath, command, ...args], options);

  function launch([program = '', ...args]: readonly string[], { stdin, env: more = {}, cwd = home }: RunOptions) {
    // A clean environment, so that local settings have no effect. A detached process has no terminal to ask for a PIN.
    const child = spawn(program, args, {
      cwd,
      detached: true,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: environmentFor(more),
    });
    const one = observe(child);
    started.push(one);
    if (stdin !== undefined && stdin !== 'open') child.stdin?.end(stdin);
    return one;
  }

  return {
    home,
    bin,
    run,
    start,
    shell: (line, options = {}) => launch(['/bin/sh', '-c', line], options),
    terminal(line, { columns = 80, ...options } = {}) {
      // `script` of util-linux: -e returns the exit code, and -E never leaves echoing to the command. With exec, Ctrl-C
      // reaches the command and not a shell.
      const typed = `stty rows 24 cols ${columns}; exec ${line}`;
      return launch(['script', '-qe', '-E', 'never', '-c', typed, '/dev/null'], { ...options, stdin: 'open' });
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

interface OwnedProcess extends CliProcess {
  end(): Promise<unknown>;
}

function observe(child: ChildProcess): OwnedProcess {
  const [bytes, errors] = [collect(child, 'stdout'), collect(child, 'stderr')];
  const stdout = () => bytes().toString('utf8');
  const stderr = () => errors().toString('utf8');
  let hasEnded = false;
  const result = once(child, 'close').then(([code]): CliResult => {
    hasEnded = true;
    return { code: code ?? undefined, stdout: stdout(), stderr: stderr() };
  });
  // The process may exit before it has read all input.
  child.stdin?.on('error', () => undefined);
  const has = (text: string | RegExp) =>
    [stdout(), stderr()].some((output) => (typeof text === 'string' ? output.includes(text) : text.test(output)));

  return {
    pid: child.pid as number,
    stdout,
    stderr,
    bytes,
    result,
    async waitForOutput(text) {
      const check = () => has(text) || (hasEnded && 'ended');
      const outcome = await eventually(`the output contains ${text}; so far: ${stdout()}${stderr()}`, check, timeoutMs);
      if (outcome === 'ended' && !has(text))
        throw new Error(`The process exited without the output ${text}: ${stdout()}${stderr()}`);
    },
    type: (keys) => void child.stdin?.write(keys),
    endInput: () => void child.stdin?.end(),
    signal: (signal) => void child.kill(signal),
    end() {
      if (!hasEnded) killGroup(child.pid as number);
      return result;
    },
  };
}

/** A shell or a terminal has child processes. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // The group has already exited.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): () => Buffer {
  const chunks: Buffer[] = [];
  child[name]?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks);
}
