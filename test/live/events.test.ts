/** The live channel over server-sent events. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sharedServer, startTestServer } from '../support/server.ts';

interface Event {
  id: number | undefined;
  type: string;
  /** The delay before reconnecting. */
  retry: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of all types
  data: any;
}

async function* follow(t: TestContext, url: string, headers: Record<string, string> = {}): AsyncGenerator<Event> {
  const aborter = new AbortController();
  t.after(() => aborter.abort());
  const response = await fetch(url, { headers, signal: aborter.signal });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = parse(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parse(block: string): Event | undefined {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  if (!fields.event) return undefined;
  return {
    id: fields.id === undefined ? undefined : Number(fields.id),
    type: fields.event,
    retry: fields.retry,
    data: JSON.parse(fields.data),
  };
}

const next = async (events: AsyncGenerator<Event>): Promise<Event> => (await events.next()).value;

describe('server-sent events', () => {
  it('[LIVE-14] tell EventSource when to reconnect after the server stops', async (t) => {
    const server = await startTestServer(t);
    const events = follow(t, `${server.url}/api/rooms/${await server.api.room()}/events`);
    assert.equal((await next(events)).retry, undefined);
    await server.stop();
    const { type, data, retry } = await next(events);
    assert.deepEqual([type, data.reason, retry], ['closed', 'shutdown', String(data.reconnectAfter)]);
  });

  it('[LIVE-28] tell EventSource when to reconnect if the connection is lost, at different times', async (t) => {
    const server = await startTestServer(t, {}, { heartbeatMs: 500, reconnectsPerSecond: 0.1 });
    const room = await server.api.room();
    const retries: number[] = [];
    for (let n = 0; n < 3; n++) {
      const events = follow(t, `${server.url}/api/rooms/${room}/events`);
      let event = await next(events);
      while (event.retry === undefined) event = await next(events);
      assert.ok(Number(event.retry) >= 1000 && Number(event.retry) <= 1000 + event.data.reconnectWithin);
      retries.push(Number(event.retry));
    }
    assert.ok(new Set(retries).size > 1, `milliseconds: ${retries}`);
  });

  it('[LIVE-1] [LIVE-2] [LIVE-3] carry the same as the socket, with the seq as id', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room({ pin: '0427' });
    const events = follow(t, `${url}/api/rooms/${room}/events?pin=0427&deviceId=tv&deviceName=TV`);
    const snapshot = await next(events);
    assert.equal(snapshot.type, 'snapshot');
    assert.deepEqual(snapshot.data.devices, [{ deviceId: 'tv', deviceName: 'TV' }]);
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'line one\nline two' }, pin: '0427' });
    const { id, type, data } = await next(events);
    assert.deepEqual({ id, type, content: data.content }, { id: 1, type: 'content', content: 'line one\nline two' });
    await api.upload(room, 'a.txt', 'x', { pin: '0427' });
    assert.equal((await next(events)).type, 'file-added');
    await api.delete(`/api/rooms/${room}`, { pin: '0427' });
    assert.deepEqual((await next(events)).data, { type: 'closed', reason: 'deleted' });
    assert.equal((await events.next()).done, true);
  });

  it('[LIVE-4] resume from Last-Event-ID', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'one' } });
    const same = follow(t, `${url}/api/rooms/${room}/events`, { 'last-event-id': '1' });
    assert.equal((await next(same)).type, 'devices');
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'two' } });
    const behind = follow(t, `${url}/api/rooms/${room}/events`, { 'last-event-id': '1' });
    assert.equal((await next(behind)).data.content.content, 'two');
  });

  it('[LIVE-7] return the error of the REST API', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room({ pin: '0427' });
    assert.equal((await api.get(`/api/rooms/${room}/events`)).code, 'PIN_REQUIRED');
    assert.equal((await api.get(`/api/rooms/${room}/events`, { pin: '9999' })).code, 'PIN_INCORRECT');
    assert.equal((await api.get('/api/rooms/ZZZZZZ/events')).code, 'ROOM_NOT_FOUND');
    assert.equal(
      (await api.get(`/api/rooms/${room}/events?pin=0427&deviceName=${'x'.repeat(65)}`)).code,
      'VALIDATION_FAILED',
    );
    assert.equal((await api.get(`/api/rooms/${room}/live`, { pin: '0427' })).code, 'UPGRADE_REQUIRED');
  });
});
