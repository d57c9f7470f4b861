/** Real reverse proxies, with the samples of the operations guide and those in deploy/sub-path. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';
import { freePort } from './listen.ts';
import type { TestServer } from './server.ts';

export type ProxyKind = 'nginx' | 'caddy' | 'haproxy';

export interface ProxiedServer {
  readonly server: TestServer;
  /** The public URL of the server. With a sample for a path, it ends with `/poproom`. */
  readonly url: string;
  /** With the logs of the proxy. */
  readonly folder: string;
}

export interface Samples {
  readonly path: '' | '/poproom';
  read(kind: ProxyKind): Promise<string>;
}

interface ProxyOptions {
  /** Those for a path, by default. */
  samples?: Samples;
  /** Starts a server with this public URL. */
  start: (publicUrl: string) => Promise<TestServer>;
  /** Changes the sample. */
  change?: (sample: string) => string;
}

/** Debian installs some of them in /usr/sbin, which is only in the PATH of root. */
const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };

export const hasProxy = (kind: ProxyKind): boolean =>
  spawnSync(kind, [kind === 'caddy' ? 'version' : '-v'], { env }).error === undefined;

/** Another program may take the port before the proxy does, so it tries again with another one. */
export async function startBehindProxy(t: TestContext, kind: ProxyKind, options: ProxyOptions): Promise<ProxiedServer> {
  const { samples = pathSamples } = options;
  for (let tries = 1; tries <= 5; tries++) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}${samples.path}`;
    const server = await options.start(url);
    const sample = await samples.read(kind);
    const setup = { port, target: server.port, sample: options.change?.(sample) ?? sample };
    const { proxy, folder } = await startProxy(t, kind, setup);
    const isForwarding = await eventually('the proxy forwards requests', async () => {
      if (proxy.exitCode !== null) return 'exited';
      return (await fetch(`${url}/livez`).catch(() => undefined))?.ok;
    });
    if (isForwarding === true) return { server, url, folder };
    await server.stop();
  }
  throw new Error(`${kind} exits immediately after its start.`);
}

interface Setup {
  port: number;
  target: number;
  sample: string;
}

async function startProxy(t: TestContext, kind: ProxyKind, { port, target, sample }: Setup) {
  const folder = await mkdtemp(join(tmpdir(), `poproom-${kind}-`));
  const local = sample.replaceAll(/(127\.0\.0\.1|10\.0\.0\.1[12]):8080/g, `127.0.0.1:${target}`);
  const path = join(folder, 'proxy.conf');
  await writeFile(path, adapt[kind](local, port, folder));
  const child = spawn(kind, [...commands[kind](path, folder)], { stdio: 'ignore', env: { ...env, HOME: folder } });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  return { proxy: child, folder };
}

const sampleFiles = { nginx: 'nginx.conf', caddy: 'Caddyfile', haproxy: 'haproxy.cfg' } as const;

const pathSamples: Samples = {
  path: '/poproom',
  read: (kind) => readFile(new URL(`../../deploy/sub-path/${sampleFiles[kind]}`, import.meta.url), 'utf8'),
};

/** The samples for a host name of its own: the first block of each kind in the guide. */
export const guideSamples: Samples = {
  path: '',
  async read(kind) {
    const guide = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    return new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 's').exec(guide)?.[1] ?? '';
  },
};

/** Without TLS, on a port of its own, with all files in its folder. */
const adapt: Record<ProxyKind, (sample: string, port: number, folder: string) => string> = {
  nginx(sample, port, folder) {
    const local = sample
      .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
      .replace(/^ *ssl_.*$/gm, '')
      .replace('/var/log/nginx/', `${folder}/`);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    return `daemon off; pid ${folder}/pid; events {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${local}\n}\n`;
  },
  caddy: (sample, port) =>
    `{\n\tadmin off\n}\n${sample.replace(/^(pop\.)?example\.org \{/m, `http://127.0.0.1:${port} {`)}`,
  haproxy: (sample, port) =>
    sample
      .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
      .replace('X-Forwarded-Proto https', 'X-Forwarded-Proto http')
      // On a busy machine, a check may time out.
      .replace(' check inter 2s', ''),
};

const commands: Record<ProxyKind, (path: string, folder: string) => readonly string[]> = {
  nginx: (path, folder) => ['-p', folder, '-e', join(folder, 'main.log'), '-c', path],
  caddy: (path) => ['run', '--adapter', 'caddyfile', '--config', path],
  haproxy: (path) => ['-db', '-f', path],
};
