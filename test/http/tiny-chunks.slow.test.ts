/** A text that arrives in chunks of one byte. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readConfig } from '../../src/config.ts';
import { compileBodySchemas } from '../../src/http/request/parse-body.ts';
import { startServer } from '../../src/server.ts';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { lastChunk, openRawSocket, requestHead } from '../support/raw-socket.ts';

const MiB = 1024 * 1024;
const text = '0123456789'.repeat(10_000);
const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
const byteByByte = (bytes: string) => Array.from(bytes, (byte) => `1\r\n${byte}\r\n`).join('');

/** Unlike the other test servers, it does not record what it receives. */
async function startBareServer(t: TestContext): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
  const nothing = () => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const config = readConfig({ PORT: '0', POPROOM_HOST: '127.0.0.1', POPROOM_DATA_DIR: folder });
  const { port, stop } = await startServer(config, log);
  // It would do so a moment after its start, maybe while its memory is looked at.
  await Promise.all([compileBodySchemas(), import('../../src/live/websocket.ts')]);
  t.after(async () => {
    await stop();
    await rm(folder, { recursive: true });
  });
  return port;
}

/** The server's end of the connection by which the next request comes. */
function nextConnection(t: TestContext): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const channel = 'http.server.request.start';
  const started = (message: unknown) => resolve((message as { socket: Socket }).socket);
  subscribe(channel, started);
  t.after(() => unsubscribe(channel, started));
  return promise;
}

/** Of this process, in which the server is too, in MiB and without garbage. */
function memory(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MiB;
}

describe('a text in chunks of one byte', () => {
  it('[RUN-7] [TEXT-1] uses memory by its bytes and not by its chunks, and is complete', async (t) => {
    const port = await startBareServer(t);
    const path = `/api/rooms/${await createApi(() => `http://127.0.0.1:${port}`).room()}/content`;
    const begun = requestHead('POST', path, headers) + byteByByte(`{"content":"${text}`);
    const wire = await openRawSocket(t, port);
    const connection = nextConnection(t);
    const before = memory();
    await wire.send(begun);
    const { bytesRead } = await eventually('it is there but for its end', async () => {
      const socket = await connection;
      return socket.bytesRead === begun.length && socket;
    });
    const growth = memory() - before;
    t.diagnostic(`${bytesRead} bytes on the wire took ${growth.toFixed(1)} MiB`);
    assert.ok(growth < 2, `${growth} MiB`);
    await wire.send(`${byteByByte('"}')}${lastChunk}`);
    assert.equal(JSON.parse((await wire.response()).text).content, text);
  });
});
