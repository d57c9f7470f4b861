/** A log that cannot be written: the server continues, later reports what was lost, and stops when asked to. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { unfinishedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { sendPipelined } from '../support/pipelined.ts';
import { dataFolder, portIn } from '../support/process.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { completeLines, fullDisk, type LogTarget, missingReader, startLogged, stuckReader } from './log-reader.ts';

const request = requestHead('GET', '/livez');
/** Their lines are more than a pipe holds, and more than that and the server together. */
const fillsPipe = 1000;
const fillsServer = 6000;
const endsWithinMs = 10_000;
const half = 'a'.repeat(100_000);

const faults: Record<string, (t: TestContext) => Promise<LogTarget>> = {
  'whose reader is stuck': stuckReader,
  'whose reader is gone': missingReader,
  'on a full disk': fullDisk,
};

describe('a log', () => {
  for (const [what, open] of Object.entries(faults)) {
    it(`[RUN-8] ${what} delays no response, and later reports what was lost`, { timeout: 120_000 }, async (t) => {
      const log = await open(t);
      const server = await startLogged(t, log);
      await log.fail();
      assert.deepEqual(await sendPipelined(server.port, request, fillsServer), { 200: fillsServer });
      assert.ok((await server.lostLines()) > 0, 'lines were lost');

      await log.recover();
      const lost = await eventually('the loss is reported', () => lostIn(log.text()) || undefined);
      assert.equal(await server.lostLines(), lost);
      server.signal('SIGTERM');
      const lines = await eventually('the last line', () => {
        const text = log.text();
        return text.includes('"msg":"stopped"') && completeLines(text).map((line) => JSON.parse(line));
      });
      assert.deepEqual(await server.exit, { code: 0, signal: null });
      const written = lines.filter(({ route }) => route === '/livez').length;
      assert.ok(written + lost >= fillsServer, `${written} lines were written and ${lost} lost`);
      const notice = lines.find(({ lost: some }) => some !== undefined);
      assert.equal(notice.level, 'warn');
    });

    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      it(`[RUN-9] ${what} does not delay a stop by ${signal}`, { timeout: 60_000 }, async (t) => {
        const log = await open(t);
        const server = await startLogged(t, log);
        await log.fail();
        await sendPipelined(server.port, request, fillsPipe);
        const since = performance.now();
        server.signal(signal);
        assert.deepEqual(await server.exit, { code: 0, signal: null });
        const ms = performance.now() - since;
        assert.ok(ms < endsWithinMs, `${ms} ms`);
      });
    }
  }

  it('[RUN-9] whose reader is stuck does not delay the end after a second signal', { timeout: 60_000 }, async (t) => {
    const log = await stuckReader(t);
    const server = await startLogged(t, log);
    const room = await server.api.room();
    const socket = await openRawSocket(t, server.port);
    const headers = { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt', 'Content-Length': 2 * half.length };
    await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, headers) + half);
    await eventually('an upload is in progress', async () => (await unfinishedBlobs(server.folder)).length === 1);
    log.fail();
    await sendPipelined(server.port, request, fillsPipe);
    const since = performance.now();
    const again = setInterval(() => server.signal('SIGINT'), 50);
    t.after(() => clearInterval(again));
    assert.deepEqual(await server.exit, { code: 130, signal: null });
    const ms = performance.now() - since;
    assert.ok(ms > 1000 && ms < endsWithinMs, `${ms} ms`);
  });

  it('[RUN-9] whose tee is ended first by Ctrl-C does not keep the server running', { timeout: 60_000 }, async (t) => {
    const { shell, folder } = await inPipeline(t, 'tee log');
    process.kill(-shell.pid, 'SIGINT');
    const since = performance.now();
    // All of the pipeline has ended: each of them holds on to standard error.
    await shell.result;
    const ms = performance.now() - since;
    assert.ok(ms < endsWithinMs, `${ms} ms`);
    await assertClosed(folder);
  });

  it('[RUN-8] whose reader reads one line and exits does not stop the server', { timeout: 60_000 }, async (t) => {
    const { shell, folder, port } = await inPipeline(t, 'head -n 1 > log');
    assert.deepEqual(await sendPipelined(port, request, fillsPipe), { 200: fillsPipe });
    process.kill(-shell.pid, 'SIGTERM');
    await shell.result;
    await assertClosed(folder);
  });

  it('[RUN-8] [RUN-9] on a stopped terminal delays no response', { timeout: 60_000 }, async (t) => {
    const { terminal, folder, port, pid } = await onTerminal(t);
    terminal.signal('SIGSTOP');
    assert.deepEqual(await sendPipelined(port, request, fillsPipe), { 200: fillsPipe });
    process.kill(pid, 'SIGTERM');
    await eventually('the server has ended', () => hasEnded(pid), endsWithinMs);
    await assertClosed(folder);
  });

  it('[RUN-8] on a resumed terminal is complete', { timeout: 60_000 }, async (t) => {
    const { terminal, port } = await onTerminal(t);
    terminal.signal('SIGSTOP');
    await sendPipelined(port, request, fillsPipe);
    terminal.signal('SIGCONT');
    const hasAll = () => terminal.stdout().match(/\/livez/g)?.length === fillsPipe;
    await eventually('every request has its line', hasAll);
    terminal.type('\x03');
    assert.equal((await terminal.result).code, 0);
  });

  it('[RUN-9] on a terminal that hangs up ends cleanly with the server', { timeout: 60_000 }, async (t) => {
    const { terminal, folder, pid } = await onTerminal(t);
    terminal.signal('SIGKILL');
    await eventually('the server has ended', () => hasEnded(pid));
    await assertClosed(folder);
  });
});

/** How many lines the log says were lost. */
function lostIn(text: string): number {
  const notices = completeLines(text).filter((line) => line.includes('"lost":'));
  return notices.reduce((sum, line) => sum + JSON.parse(line).lost, 0);
}

/** One that has ended is a zombie until its parent, which may be stopped, looks at it. */
const hasEnded = (pid: number) => !existsSync(`/proc/${pid}`) || !existsSync(`/proc/${pid}/exe`);

/** After a clean stop, everything is in the database itself. */
async function assertClosed(folder: string): Promise<void> {
  const names = await readdir(folder);
  assert.ok(names.includes('poproom.db') && !names.includes('poproom.db-wal'), names.join());
}

const settings = { PORT: '0', POPROOM_HOST: '127.0.0.1', POPROOM_MIN_FREE_DISK: '0', POPROOM_LOG_LEVEL: 'debug' };

/** A server whose log another program reads and writes to the file `log`. */
async function inPipeline(t: TestContext, reader: string) {
  const folder = await dataFolder(t);
  const cli = await createCli(t, { ...settings, POPROOM_DATA_DIR: folder });
  const shell = cli.shell(`poproom serve | ${reader}`);
  const readLog = () => readFile(join(cli.home, 'log'), 'utf8').catch(() => '');
  const port = await eventually('the server listens', async () => portIn(await readLog()));
  return { shell, folder, port };
}

async function onTerminal(t: TestContext) {
  const folder = await dataFolder(t);
  const cli = await createCli(t, { ...settings, POPROOM_DATA_DIR: folder });
  const terminal = cli.terminal(`sh -c 'echo "pid $$"; exec poproom serve'`);
  await terminal.waitForOutput('listening');
  await terminal.waitForOutput(/localhost:\d+\D/);
  const pid = Number(/pid (\d+)/.exec(terminal.stdout())?.[1]);
  // It has its own session, and would survive its terminal if the test fails.
  t.after(() => existsSync(`/proc/${pid}`) && process.kill(pid, 'SIGKILL'));
  return { terminal, folder, pid, port: Number(/localhost:(\d+)/.exec(terminal.stdout())?.[1]) };
}
