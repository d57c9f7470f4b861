/** Every endpoint and every live message with a link of each role, compared with the table of rights. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { openapiDocument } from '../../scripts/openapi/index.ts';
import type { Endpoint } from '../../src/protocol/endpoints/endpoint.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { type LinkRole, linkRights, linkRoles, mayDo, messageOperations } from '../../src/protocol/link-rights.ts';
import { clientMessages } from '../../src/protocol/live.ts';
import type { RequestOptions } from '../support/api.ts';
import { connect, joinRoom } from '../support/device.ts';
import { roomWithLinks, type TestLinks } from '../support/links.ts';
import { sharedServer } from '../support/server.ts';

const tus = { 'tus-resumable': '1.0.0' };
const id = '9f86d081884c7d659a2feaa0c55ad015';

/** A well-formed request to each endpoint of a room that needs a body or headers. Only its right may decide about it. */
const requests: Readonly<Record<string, RequestOptions>> = {
  updateRoom: { json: { expiresIn: 600 } },
  createLink: { json: { role: 'read' } },
  reportRoom: { json: { reason: 'other' } },
  createWebhook: { json: { url: 'https://example.org/hook' } },
  writeContent: { json: { content: 'text' } },
  editContent: { json: { append: 'text' } },
  compactContent: { json: { content: 'pop1.x', version: 1 } },
  uploadFile: { body: 'bytes', headers: { 'content-type': 'text/plain', 'x-file-name': 'a.txt' } },
  putFile: { body: 'bytes' },
  createUpload: { headers: { ...tus, 'upload-length': '5', 'upload-metadata': 'filename YS50eHQ=' } },
  getUpload: { headers: tus },
  continueUpload: { headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' } },
  cancelUpload: { headers: tus },
};

const values: Readonly<Record<string, string>> = {
  fileId: id,
  claim: id,
  version: '1',
  name: 'a.txt',
  linkId: '0'.repeat(24),
  webhookId: id,
};
const refusals = { read: 'READ_ONLY', drop: 'DROP_ONLY' } as const;

const ofRooms = Object.entries<Endpoint>(endpoints).filter(([, { path }]) => /^\/api\/.*:roomId/.test(path));

describe('the rights of links', () => {
  it('[ROLE-2] are known for every endpoint of a room and every message of a client', () => {
    for (const [name, { operation, body }] of ofRooms) {
      assert.ok(operation && operation in linkRights, `${name} needs an operation`);
      const needsBody = typeof body === 'object' ? body.required : body !== undefined;
      assert.ok(name in requests || !needsBody, `${name} needs a request in this test`);
    }
    assert.deepEqual(Object.keys(messageOperations).sort(), Object.keys(clientMessages).sort());
  });

  it('[ROLE-15] are part of the OpenAPI document and of the API guide', async () => {
    const { paths } = openapiDocument();
    for (const [name, { method, path, operation = 'changeRoom' }] of ofRooms) {
      const described = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      assert.deepEqual(described?.['x-link-roles'], linkRights[operation].roles, name);
      const access = ['room code', ...linkRights[operation].roles.map((role) => `${role} link`)].join(', ');
      assert.ok(described?.description.endsWith(`**Access:** ${access}.`), name);
    }
    const guide = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
    for (const { description, roles } of Object.values<{ description: string; roles: readonly LinkRole[] }>(
      linkRights,
    )) {
      const cells = linkRoles.map((role) => (roles.includes(role) ? ' yes +' : ' +')).join('\\|');
      assert.match(guide, new RegExp(`^\\| ${description} +\\| yes +\\|${cells}\\|$`, 'm'));
    }
  });

  for (const role of linkRoles) {
    it(`[ROLE-2] are those of the table at every endpoint, for a ${role} link`, async (t) => {
      const server = await sharedServer(t);
      const links = await roomWithLinks(server);
      for (const [name, endpoint] of ofRooms) {
        // The channel is tested with its messages.
        if (name !== 'liveChannel') await checkEndpoint(server, name, endpoint, role, links);
      }
      assert.equal((await server.api.get(`/api/rooms/${links.room}/content`)).json.version, 0);
    });
  }

  it('[ROLE-2] are those of the table for every live message', async (t) => {
    const { api, url } = await sharedServer(t);
    const { room, read, drop } = await roomWithLinks({ api });
    const messages = {
      join: { type: 'join' },
      heartbeat: { type: 'heartbeat' },
      content: { type: 'content', content: 'x', baseVersion: 0 },
      edit: { type: 'edit', edits: [{ from: 0, to: 0, insert: 'x' }], baseVersion: 0 },
      'sealed-edit': { type: 'sealed-edit', sealed: 'pop1.x', baseVersion: 0 },
      compact: { type: 'compact', content: 'pop1.x', version: 0 },
      caret: { type: 'caret', version: 0, position: 0 },
      'sealed-caret': { type: 'sealed-caret', version: 0, sealed: 'x' },
    } satisfies Record<keyof typeof clientMessages, object>;
    const reader = await joinRoom(t, url, read);
    await reader.next('snapshot');
    for (const [type, message] of Object.entries(messages)) {
      if (mayDo('read', messageOperations[type as keyof typeof messageOperations])) continue;
      const hasRef = 'ref' in clientMessages[type as keyof typeof clientMessages].properties;
      reader.send(hasRef ? { ...message, ref: type } : message);
      const { error, ref } = await reader.next('error');
      assert.deepEqual([error.code, ref], ['READ_ONLY', hasRef ? type : undefined]);
    }
    assert.equal(reader.socket.readyState, 1, 'the channel stays open');
    const dropper = await connect(t, url, drop);
    dropper.send(messages.join);
    assert.equal((await dropper.next('error')).error.code, 'DROP_ONLY');
    assert.equal((await dropper.closed).code, 4403);
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.version, 0);
  });
});

async function checkEndpoint(
  { api }: Awaited<ReturnType<typeof sharedServer>>,
  name: string,
  { method, path, operation = 'changeRoom' }: Endpoint,
  role: LinkRole,
  links: TestLinks,
): Promise<void> {
  const filled = path.replace(/:(\w+)/g, (_, key: string) => (key === 'roomId' ? links[role] : (values[key] ?? '')));
  // The stream would stay open, so its head is enough.
  const response = await api.call(name === 'roomEvents' ? 'HEAD' : method, filled, requests[name]);
  const isRefused = response.status === 403;
  assert.equal(!isRefused, mayDo(role, operation), `${name}: ${response.status} ${response.text}`);
  if (isRefused && response.text !== '') assert.equal(response.code, refusals[role], name);
  const seen = response.text + JSON.stringify([...response.headers]);
  assert.ok(!seen.includes(links.room), `${name} reveals the code`);
  const other = role === 'read' ? links.drop : links.read;
  assert.ok(!seen.includes(other), `${name} reveals another link`);
}
