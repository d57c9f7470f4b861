/** One-time files on several nodes: one receiver, whichever node it asks. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { RequestOptions } from '../support/api.ts';
import { joinRoom } from '../support/device.ts';
import type { SharedNodes } from '../support/nodes.ts';
import type { ServerProcess } from '../support/process.ts';

const [fewRounds, manyRounds] = [6, 50];

/** Kills the third node. */
export function oneTimeFileTests(shared: () => SharedNodes): void {
  describe('a one-time file on two nodes', () => receiverTests(shared));
}

function receiverTests(shared: () => SharedNodes): void {
  it('[ONCE-4] [ONCE-5] has one receiver in each of some rounds, and members on both nodes see it go', (t) =>
    race(t, shared().nodes, fewRounds));

  it('[slow] [ONCE-4] [ONCE-5] has one receiver in each of many rounds', (t) => race(t, shared().nodes, manyRounds));

  it('[ONCE-4] [ONCE-9] can be received from the other node after a kill, by its receiver only', async () => {
    const [, two, one] = shared().nodes;
    const room = await one.api.room();
    const fileId = await uploadOnce(one, room);
    const { claim: token, url } = (await claim(one, room, fileId)).json;
    await one.end('SIGKILL');
    assert.equal((await claim(two, room, fileId)).code, 'FILE_CLAIMED');
    const { pathname, search } = new URL(url);
    assert.equal((await two.api.get(pathname + search)).text, 'a secret text');
    assert.equal((await two.api.post(`/api/rooms/${room}/claims/${token}/done`)).status, 200);
    assert.deepEqual((await two.api.get(`/api/rooms/${room}/files`)).json.files, []);
  });
}

/** Both nodes claim each file concurrently. */
async function race(t: TestContext, [, two, one]: SharedNodes['nodes'], rounds: number): Promise<void> {
  const room = await one.api.room();
  const device = await joinRoom(t, two.url, room);
  await device.next('snapshot');
  for (let round = 0; round < rounds; round++) {
    // The nodes have a limit for each client.
    const from = `198.18.9.${round}`;
    const fileId = await uploadOnce(one, room, { from });
    const claims = await Promise.all([one, two].map((node) => claim(node, room, fileId, { from })));
    const won = claims.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    assert.equal(claims.find(({ status }) => status !== 200)?.code, 'FILE_CLAIMED');
    const node = round % 2 === 0 ? one : two;
    assert.equal((await node.api.post(`/api/rooms/${room}/claims/${won[0]?.json.claim}/done`, { from })).status, 200);
    const removed = await device.next('file-removed', (message) => message.fileId === fileId);
    assert.equal(removed.received, true);
  }
}

async function uploadOnce({ api }: ServerProcess, room: string, options: RequestOptions = {}): Promise<string> {
  const { json } = await api.post(`/api/rooms/${room}/upload?fileName=secret.txt&once=true`, {
    body: 'a secret text',
    headers: { 'content-type': 'text/plain' },
    ...options,
  });
  return json.fileUrl.split('/').at(-2);
}

const claim = ({ api }: ServerProcess, room: string, fileId: string, options: RequestOptions = {}) =>
  api.post(`/api/rooms/${room}/files/${fileId}/claim`, options);
