/** The machine-readable description of the live channel. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { asyncapiDocument } from '../../scripts/asyncapi.ts';
import { clientMessages, serverMessages } from '../../src/protocol/live.ts';
import { closeCodes } from '../../src/protocol/live-protocol.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

describe('the AsyncAPI document', () => {
  it('[LIVE-15] is served, and matches the code', async (t) => {
    const { api } = await sharedServer(t);
    const committed = JSON.parse(await readFile(new URL('../../asyncapi.json', import.meta.url), 'utf8'));
    assert.deepEqual(committed, JSON.parse(JSON.stringify(asyncapiDocument())), 'run "npm run generate"');
    assert.deepEqual((await api.get('/api/asyncapi.json')).json, committed);
  });

  it('[LIVE-15] describes every message, and all its references resolve', () => {
    const document = JSON.parse(JSON.stringify(asyncapiDocument()));
    for (const type of Object.keys(clientMessages)) assert.ok(document.components.messages[`client-${type}`]);
    for (const type of Object.keys(serverMessages)) assert.ok(document.components.messages[`server-${type}`]);
    for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer.split('/').reduce((at, key) => at?.[key], document);
      assert.ok(found, pointer);
    }
  });

  it('[LIVE-15] lets the server add fields, names its servers and describes how readers continue', async (t) => {
    const document = JSON.parse(JSON.stringify(asyncapiDocument()));
    for (const type of Object.keys(serverMessages)) {
      assert.doesNotMatch(JSON.stringify(document.components.messages[`server-${type}`]), /additionalProperties/, type);
    }
    assert.ok(document.channels.events['x-request-headers']['Last-Event-ID']);
    for (const { servers } of Object.values<{ servers: object[] }>(document.channels)) assert.equal(servers.length, 1);
    const { api } = await startTestServer(t, { POPROOM_PUBLIC_URL: 'https://pop.example.org/rooms' });
    const { websocket, events } = (await api.get('/api/asyncapi.json')).json.servers;
    assert.deepEqual([websocket.host, websocket.protocol, websocket.pathname], ['pop.example.org', 'wss', '/rooms']);
    assert.equal(events.protocol, 'https');
  });

  it('[LIVE-15] describes the close codes, in the same words as docs/live.md', async () => {
    const document = JSON.parse(JSON.stringify(asyncapiDocument()));
    assert.deepEqual(Object.entries(document.channels.live['x-close-codes']), Object.entries(closeCodes));
    const guide = await readFile(new URL('../../docs/live.md', import.meta.url), 'utf8');
    for (const [code, meaning] of Object.entries(closeCodes))
      assert.match(guide, new RegExp(`^\\| ${code} +\\| ${RegExp.escape(meaning)} +\\|$`, 'm'));
  });
});
