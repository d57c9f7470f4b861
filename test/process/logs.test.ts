/** The lines of the log about requests, and the secrets it must never contain. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { field, filePart, form, formType } from '../support/form.ts';
import { dataFolder, run, type ServerProcess, startProcess } from '../support/process.ts';
import { openRawSocket } from '../support/raw-socket.ts';

const secrets = {
  pin: '8642',
  wrongPin: '7531',
  text: 'the-text-nobody-may-log',
  fileName: 'the-name-nobody-may-log.txt',
  bytes: 'the-bytes-nobody-may-log',
  query: 'the-query-nobody-may-log',
  device: 'the-device-nobody-may-log',
  unknownKey: `pop_${'Q'.repeat(32)}`,
};

describe('the log', () => {
  it('[RUN-5] [RUN-11] [PIN-5] consists of JSON lines with request ids and clients, and contains no user data', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, { POPROOM_LOG_LEVEL: 'debug' });
    const key = (await run(['keys', 'create', 'logged'], { POPROOM_DATA_DIR: folder })).stdout.trim();
    const { rooms, files, requestIds } = await useEverything(server, key);
    const socket = await openRawSocket(t, server.port);
    await socket.send(`GET /${secrets.query} HTTP/1.1\r\nX-Room-Pin ${secrets.pin}\r\n\r\n`);
    assert.equal((await socket.response()).status, 400);
    assert.deepEqual(await server.end('SIGTERM'), { code: 0, signal: null });

    const log = server.output() + server.errors();
    const never = [...Object.values(secrets), ...rooms, ...files, key];
    // As a whole word: a port or the hash of a client may contain the digits of a PIN.
    for (const secret of never) assert.doesNotMatch(log, new RegExp(`(?<!\\w)${RegExp.escape(secret)}(?!\\w)`, 'i'));
    assert.ok(!log.includes('?'), 'no query is logged');

    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(server.errors(), '');
    const requests = lines.filter(({ msg }) => msg === 'request');
    for (const { requestId, client, method, route, status, ms, time } of requests) {
      assert.match(requestId, /^[\w-]{8}-[0-9a-z]+$/);
      assert.match(client, /^[0-9a-f]{12}$/);
      assert.ok(method && route && status && ms >= 0);
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    const logged = new Set(requests.map(({ requestId }) => requestId));
    for (const id of requestIds) assert.ok(logged.has(id), 'every response is in the log with its id');
    const routes = new Set(requests.map(({ route }) => route));
    for (const route of ['/api/rooms', '/api/rooms/:roomId/content', '/files/:fileId/:name', 'none']) {
      assert.ok(routes.has(route), route);
    }
    for (const msg of ['listening', 'stopping', 'stopped'])
      assert.ok(
        lines.some((line) => line.msg === msg),
        msg,
      );
  });

  it('[RUN-5] [ERR-6] [OPS-11] has the reason of a failure under the request id, without user data', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, { POPROOM_MIN_FREE_DISK: '900000GiB' });
    const room = await server.api.room();
    const { status, json } = await server.api.upload(room, secrets.fileName, secrets.bytes);
    assert.equal(status, 507);
    const line = await eventually('the failure is logged', () =>
      server
        .output()
        .split('\n')
        .find((candidate) => candidate.includes('request failed')),
    );
    const { requestId, reason, err } = JSON.parse(line);
    assert.equal(requestId, json.requestId);
    // A full disk is not a bug, so there is no stack.
    assert.ok(reason.length > 10 && err === undefined, line);

    for (const secret of [room, secrets.fileName, secrets.bytes]) assert.ok(!server.output().includes(secret));
  });

  it('[slow] [RUN-8] contains the warnings of the runtime', async (t) => {
    const settings = { NODE_OPTIONS: onSignal("process.emitWarning('an odd thing')") };
    const server = await startProcess(t, await dataFolder(t), settings);
    server.signal('SIGUSR2');
    await eventually('the warning is logged', () => /"level":"warn",.*an odd thing/.test(server.output()));
    await server.end('SIGTERM');
    assert.equal(server.errors(), '');
  });

  it('[RUN-8] is complete when the server crashes', async (t) => {
    const settings = { POPROOM_LOG_LEVEL: 'debug', NODE_OPTIONS: onSignal("throw new Error('a crash')") };
    const server = await startProcess(t, await dataFolder(t), settings);
    const { headers } = await server.api.get('/livez');
    server.signal('SIGUSR2');
    assert.notEqual((await server.exit).code, 0);
    assert.ok(server.output().includes(headers.get('x-request-id') ?? 'an id'));
  });
});

/** Has a process run this when it gets SIGUSR2. */
function onSignal(code: string): string {
  return `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2',()=>{${code}})`)}`;
}

async function useEverything({ api }: ServerProcess, key: string) {
  const requestIds: string[] = [];
  const noted = <T extends { headers: Headers }>(answer: T): T => {
    requestIds.push(answer.headers.get('x-request-id') ?? '');
    return answer;
  };
  const { pin, wrongPin } = secrets;
  const room = noted(await api.post('/api/rooms', { json: { pin } })).json.roomId;
  const at = `/api/rooms/${room}`;
  const headers = { 'x-device-id': secrets.device, authorization: `Bearer ${key}` };
  noted(await api.get(at, { pin, headers }));
  noted(await api.get(`${at}?pin=${pin}&x=${secrets.query}`));
  noted(await api.get(at));
  noted(await api.get(at, { pin: wrongPin }));
  noted(await api.post(`${at}/content`, { json: { content: secrets.text, pin } }));
  noted(await api.post(`${at}/content`, { json: { content: secrets.text, who: secrets.text }, pin }));
  noted(await api.post(`${at}/content`, { body: secrets.text, headers: { 'content-type': 'application/json' }, pin }));
  noted(await api.get(`${at}/content`, { pin, headers: { 'x-api-key': secrets.unknownKey } }));
  const { fileUrl } = noted(await api.upload(room, secrets.fileName, secrets.bytes, { pin })).json;
  const body = form(field('pin', pin), filePart(secrets.bytes, secrets.fileName));
  noted(await api.post(`${at}/upload`, { body, headers: { 'content-type': formType } }));
  noted(await api.post(`${at}/upload?fileName=${secrets.fileName}&pin=${pin}`, { body: secrets.bytes }));
  const { files } = noted(await api.get(`${at}/files`, { pin })).json;
  noted(await api.get(fileUrl));
  noted(await api.get(fileUrl, { headers: { range: 'bytes=99-' } }));
  noted(await api.call('DELETE', `${at}/files/${files[0].fileId}`, { json: { pin } }));
  noted(await api.get(`/${secrets.text}?${secrets.query}`));
  noted(await api.get(`/api/rooms/${secrets.query}`));
  noted(await api.delete(at, { pin }));
  noted(await api.get(at));
  return { rooms: [room], files: files.map(({ fileId }: { fileId: string }) => fileId), requestIds };
}
