/** A disk of a few MiB that can be filled: a tmpfs that only the server and the test see. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { builtCommand, dataFolder, type Executable } from '../support/process.ts';

export interface SmallDisk {
  /** Its path for the server. */
  folder: string;
  /** Its path for the test. */
  testPath: string;
  /** Starts the server in the namespace of the disk. */
  executable: Executable;
  /** Fills the disk, except for `leftMiB`. */
  fill(leftMiB?: number): Promise<void>;
  free(): Promise<void>;
}

/** Root can mount in a new mount namespace. Other users also need a user namespace, in which they are root. */
const isRoot = process.getuid?.() === 0;
const makeNamespace = ['--mount', ...(isRoot ? [] : ['--map-root-user'])];
const enterNamespace = ['--mount', ...(isRoot ? [] : ['--user', '--preserve-credentials'])];

/** The mount ends with the process that holds the namespace, even if the test crashes. */
export async function smallDisk(t: TestContext, MiB: number): Promise<SmallDisk> {
  const folder = await dataFolder(t);
  const mount = `mount -t tmpfs -o size=${MiB}m tmpfs "$0" && echo mounted && exec cat`;
  const holder = spawn('unshare', [...makeNamespace, 'sh', '-c', mount, folder], { stdio: ['pipe', 'pipe', 'pipe'] });
  t.after(() => holder.kill('SIGKILL'));
  const isMounted = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    once(holder, 'close').then(() => false),
    once(holder, 'error').then(() => false),
  ]);
  if (!isMounted) throw new Error(missing);
  const testPath = join(`/proc/${holder.pid}/root`, folder);
  const filler = join(testPath, 'filler');
  return {
    folder,
    testPath,
    executable: ['nsenter', '--target', String(holder.pid), ...enterNamespace, '--', ...builtCommand],
    async fill(leftMiB = 0) {
      for (const bytes of [256 * 1024, 4096]) await appendUntilFull(filler, Buffer.alloc(bytes));
      if (leftMiB > 0) await truncate(filler, (await stat(filler)).size - leftMiB * 1024 * 1024);
    },
    free: () => rm(filler),
  };
}

const missing =
  'Tests of a full disk mount a small file system in a namespace. They need "unshare" and "nsenter" of ' +
  'util-linux, and permission to create namespaces. In a container, add the capability SYS_ADMIN; elsewhere, ' +
  'see user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns.';

async function appendUntilFull(path: string, bytes: Buffer): Promise<void> {
  for (;;) {
    try {
      await appendFile(path, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}
