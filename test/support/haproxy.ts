/** A real load balancer: HAProxy, which polls the readiness of each node. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './listen.ts';

/** Debian installs it in /usr/sbin, which is only in the PATH of root. */
const env = { PATH: `${process.env.PATH ?? ''}:/usr/sbin` };

export const haproxyMissing = 'The test of a rolling restart needs HAProxy: on Debian, "sudo apt-get install haproxy".';

export const hasHaproxy = (): boolean => spawnSync('haproxy', ['-v'], { env }).status === 0;

/** Returns its URL. The header `X-Node` of each response has the port of the node that sent it. */
export async function startHaproxy(t: TestContext, ports: readonly number[]): Promise<string> {
  if (!hasHaproxy()) throw new Error(haproxyMissing);
  const folder = await mkdtemp(join(tmpdir(), 'poproom-haproxy-'));
  const port = await freePort();
  const path = join(folder, 'haproxy.cfg');
  await writeFile(path, configOf(port, ports));
  const child: ChildProcess = spawn('haproxy', ['-db', '-f', path], { stdio: 'ignore', env });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true });
  });
  return `http://127.0.0.1:${port}`;
}

/** A node that says it is stopping gets no more requests. One that is not ready once, as on a busy machine, still does. */
const configOf = (port: number, nodes: readonly number[]) => `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 10s
  retries 3
  option redispatch 1
frontend all
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
  option httpchk GET /readyz
  http-response set-header X-Node %s
  default-server check inter 300ms fall 3 rise 2
${nodes.map((node) => `  server ${node} 127.0.0.1:${node}`).join('\n')}
`;
