/**
 * Runs the built command in the process of the tests, which saves the start of a process. The command gets a `process`
 * of its own: arguments, environment, standard streams, signals and exit code.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { format } from 'node:util';

export interface CommandOptions {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** `/dev/null` if undefined. */
  stdin: string | Uint8Array | undefined;
}

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** These start threads or programs that depend on the real process. */
const needsProcess = ['serve', 'clip', 'ui'];

const realProcess = process;
const current = new AsyncLocalStorage<CommandProcess>();
const main = new URL('../../dist/main.js', import.meta.url);
let started = 0;

/** The working directory is the one thing that commands of a process share. */
let sharedFolder: { path: string; users: number; before: string } | undefined;

/** Whether this command gives the same result here as in a process of its own. */
export function canRunInProcess({ args, cwd, env }: CommandOptions): boolean {
  const hasOwnTimeZone = env.TZ !== undefined;
  const isFolderFree = sharedFolder === undefined || sharedFolder.path === cwd;
  return isFolderFree && !hasOwnTimeZone && !needsProcess.includes(args[0] ?? '');
}

export async function runInProcess(options: CommandOptions): Promise<CommandResult> {
  const command = new CommandProcess(options);
  const leaveFolder = enterFolder(options.cwd);
  started += 1;
  // Only the entry point runs again for each command. The modules that it imports are shared.
  const entryPoint = `${main.href}?${started}`;
  try {
    await Promise.race([current.run(command, () => import(entryPoint)), command.exited]);
  } finally {
    command.emit('exit');
    leaveFolder();
  }
  return { code: command.exitCode ?? 0, stdout: command.output(), stderr: command.errors() };
}

function enterFolder(path: string): () => void {
  sharedFolder ??= { path, users: 0, before: realProcess.cwd() };
  const folder = sharedFolder;
  folder.users += 1;
  realProcess.chdir(path);
  return () => {
    folder.users -= 1;
    if (folder.users > 0) return;
    realProcess.chdir(folder.before);
    sharedFolder = undefined;
  };
}

/** The part of `process` that commands use. Everything else is the real one. */
class CommandProcess extends EventEmitter {
  readonly argv: readonly string[];
  readonly env: Record<string, string>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly output: () => string;
  readonly errors: () => string;
  readonly exited: Promise<void>;
  readonly hasInput: boolean;
  exitCode: number | undefined;
  #end = () => {};

  constructor({ args, env, stdin }: CommandOptions) {
    super();
    this.argv = [realProcess.execPath, 'poproom', ...args];
    this.env = { ...env };
    this.hasInput = stdin !== undefined;
    this.stdin = Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)], { objectMode: false });
    [this.stdout, this.output] = collect();
    [this.stderr, this.errors] = collect();
    this.exited = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  exit(code?: number): void {
    this.exitCode = code ?? this.exitCode;
    this.#end();
  }
}

function collect(): [stream: Writable, text: () => string] {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return [stream, () => Buffer.concat(chunks).toString('utf8')];
}

virtualizeProcess();
virtualizeConsole();
virtualizeFiles();

function virtualizeProcess(): void {
  const of = (command: CommandProcess) =>
    new Proxy(realProcess, {
      get: (_, name) => {
        const owner = name in command && !(name in Object.prototype) ? command : realProcess;
        const value = Reflect.get(owner, name, owner);
        return typeof value === 'function' ? value.bind(owner) : value;
      },
      set: (_, name, value) => Reflect.set(command, name, value),
    });
  const views = new WeakMap<CommandProcess, NodeJS.Process>();
  const view = (command: CommandProcess) => {
    const known = views.get(command) ?? of(command);
    views.set(command, known);
    return known;
  };
  Object.defineProperty(globalThis, 'process', {
    configurable: true,
    enumerable: false,
    get() {
      const command = current.getStore();
      return command ? view(command) : realProcess;
    },
  });
}

/** The console keeps the streams of the real process. */
function virtualizeConsole(): void {
  const { log, error } = console;
  console.log = (...args) => {
    const command = current.getStore();
    return command ? void command.stdout.write(`${format(...args)}\n`) : log(...args);
  };
  console.error = (...args) => {
    const command = current.getStore();
    return command ? void command.stderr.write(`${format(...args)}\n`) : error(...args);
  };
}

/** Standard input is a pipe or `/dev/null`, and there is no terminal. */
function virtualizeFiles(): void {
  const { fstatSync, openSync } = fs;
  fs.fstatSync = ((fd: number, ...rest: never[]) => {
    const command = fd === 0 ? current.getStore() : undefined;
    if (!command) return fstatSync(fd, ...rest);
    return Object.assign(fs.statSync('/dev/null'), { isFIFO: () => command.hasInput });
  }) as typeof fstatSync;
  fs.openSync = (path, ...rest) => {
    if (path === '/dev/tty' && current.getStore())
      throw Object.assign(new Error('There is no terminal.'), { code: 'ENXIO' });
    return openSync(path, ...rest);
  };
  syncBuiltinESMExports();
}
