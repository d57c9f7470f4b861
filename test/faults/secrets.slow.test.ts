/** Logs and metrics contain no user data. This is checked for every server of the tests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connect, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { filePart, form, formType } from '../support/form.ts';
import { dataFolder, startProcess } from '../support/process.ts';
import { recordTraffic } from '../support/record-traffic.ts';
import { createSecrets, metricLabels } from '../support/secrets.ts';
import { startTestServer } from '../support/server.ts';

const shared = {
  pin: '8642',
  wrongPin: '7531',
  content: 'a text that nobody writes down',
  name: 'a name that nobody writes down.txt',
  key: `pop_${'K'.repeat(32)}`,
};

describe('the log and the metrics', () => {
  it('[RUN-3] [RUN-5] contain nothing that was sent over any channel', async (t) => {
    const server = await startProcess(t, await dataFolder(t), { POPROOM_LOG_LEVEL: 'debug' });
    const { api, url } = server;
    const { pin, wrongPin, content, name, key } = shared;
    const room = await api.room({ pin });
    const at = `/api/rooms/${room}`;
    await api.get(at, { pin: wrongPin });
    await api.post(`${at}/content`, { json: { content }, pin });
    await api.post(`${at}/content`, { body: content, pin, headers: { 'content-type': 'application/json' } });
    await api.get(`${at}/content`, { pin, headers: { authorization: `Bearer ${key}` } });
    const { fileUrl } = (await api.upload(room, name, content, { pin })).json;
    await api.get(new URL(fileUrl).pathname);
    await api.get(`/${name}?${content}`);

    const device = await connect(t, url, room);
    device.send({ type: 'join', pin, deviceName: name });
    await device.next('snapshot');
    device.send({ type: 'content', content: `${content}, from inside`, baseVersion: 1 });
    await device.next('written');
    device.send(content);
    await device.next('error');
    await device.leave();
    const events = await fetch(`${url}${at}/events?pin=${wrongPin}`);
    await events.body?.cancel();

    const figures = (await api.get('/metrics')).text;
    await server.end('SIGTERM');
    const never = [content, name, key, room, new URL(fileUrl).pathname.split('/')[2] ?? ''];
    for (const secret of never) assert.ok(!`${figures}${server.output()}${server.errors()}`.includes(secret), secret);
    for (const digits of [pin, wrongPin]) assert.ok(!server.output().includes(`"${digits}"`));
  });

  it('[RUN-3] [RUN-5] can be searched on every server, in the process of the test or in its own', async (t) => {
    for (const server of [await startTestServer(t), await startProcess(t, await dataFolder(t))]) {
      await server.api.room();
      await eventually('they are there', async () => /^\/api\/rooms$/m.test(await metricLabels(server.url)));
    }
  });

  it('[RUN-5] [PIN-5] are searched for everything that was sent, including live channels and long bodies', async (t) => {
    const server = await startTestServer(t);
    const heard = createSecrets();
    const hearNoMore = recordTraffic(() => server.port, heard);
    const { pin, content } = shared;
    const room = await server.api.room({ pin });
    const device = await joinRoom(t, server.url, room, { pin });
    await device.next('snapshot');
    device.send({ type: 'content', content: `live ${content}`, baseVersion: 0 });
    await device.next('written');
    const body = JSON.stringify({ content: content.repeat(10_000), pin });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.url}/api/rooms/${room}/content`, { method: 'POST', body, headers });
    const files = { bare: `bare ${content}`, inForm: `in a form ${content}` };
    const upload = `${server.url}/api/rooms/${room}/upload?pin=${pin}`;
    await fetch(upload, { method: 'POST', body: `${files.bare}\n${'x'.repeat(100_000)}` });
    const sent = new FormData();
    sent.set('file', new File([files.inForm, '\0'], shared.name));
    await fetch(upload, { method: 'POST', body: sent });
    hearNoMore();
    for (const leak of [pin, `live ${content}`, content.repeat(10_000), files.bare, files.inForm, shared.name]) {
      assert.throws(() => heard.assertAbsentFrom(leak, 'the log'), / is in the log/);
    }
  });

  it('[RUN-5] [PIN-5] are searched in every test for what it sent', () => {
    const secrets = createSecrets();
    const { pin, content, name, key } = shared;
    const headers = { 'x-file-name': encodeURIComponent(name), 'x-api-key': key };
    secrets.record('/api/rooms/ABCDEF/upload', { json: { content }, pin, headers });
    const file = Buffer.from('the bytes of a file');
    secrets.record('/api/rooms/ABCDEF/upload', { body: file });
    const body = form(filePart('bytes in a form\0', 'its name.txt'));
    secrets.record('/api/rooms/ABCDEF/upload', { body, headers: { 'content-type': formType } });
    const line = (fields: object) => JSON.stringify({ time: 1794738642000, requestId: 'a8642', ms: 8642, ...fields });
    const harmless = [
      line({ port: 8642, msg: 'listening' }),
      line({ err: { stack: 'Error: no\n    at f (/a.ts:8642:1)' } }),
    ];
    secrets.assertAbsentFrom(harmless.join('\n'), 'the log');
    const leaks = [
      { msg: `tried ${pin}` },
      { pin },
      { pin: Number(pin) },
      { err: { message: `no ${name}` } },
      { route: `/x?key=${key}` },
      { body: { content } },
      { msg: `stored ${file}` },
      { msg: 'stored bytes in a form' },
      { name: 'its name.txt' },
    ];
    for (const leak of leaks) {
      assert.throws(() => secrets.assertAbsentFrom(line(leak), 'the log'), / is in the log/, JSON.stringify(leak));
    }
  });
});
