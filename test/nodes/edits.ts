/** Editing one text on two nodes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TextEdited, Written } from '../../src/protocol/types.ts';
import { type Device, joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import type { SharedNodes } from '../support/nodes.ts';

const insert = (at: number, text: string) => [{ from: at, to: at, insert: text }];

export function editTests(shared: () => SharedNodes): void {
  describe('a text that is edited on two nodes', () => textTests(shared));
}

function textTests(shared: () => SharedNodes): void {
  it('[NODE-1] [TEXT-10] has the edits of both, in one order, and is sent to all', async (t) => {
    const [one, two] = shared().nodes;
    const room = await one.api.room();
    const join = async (url: string, deviceId: string) => {
      const device = await joinRoom(t, url, room, { edits: true, deviceId });
      await device.next('snapshot');
      return device;
    };
    const devices = [await join(one.url, 'a'), await join(two.url, 'b'), await join(one.url, 'c')];
    const words = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc'];
    await Promise.all(devices.map((device, i) => typeAtStart(device, words[i] ?? '')));
    const path = `/api/rooms/${room}/content`;
    for (const { api } of [one, two]) assert.equal((await api.get(path)).json.content, words.join(''));
    const versions = Array.from({ length: 30 }, (_, n) => n + 1);
    for (const device of devices) {
      while (versionsOf(device).length < 30) await device.next('edit');
      assert.deepEqual(versionsOf(device), versions);
    }
  });

  it('[CARET-1] [PEOPLE-1] shows the carets and the colours of devices on the other node', async (t) => {
    const [one, two] = shared().nodes;
    const room = await one.api.room();
    const here = await joinRoom(t, one.url, room, { deviceId: 'here', deviceColor: 4 });
    await here.next('snapshot');
    const there = await joinRoom(t, two.url, room, { deviceId: 'there', deviceColor: 4, carets: true });
    const { devices } = await there.next('snapshot');
    assert.deepEqual(Object.fromEntries(devices.map(({ deviceId, deviceColor }) => [deviceId, deviceColor])), {
      here: 4,
      there: 5,
    });
    here.send({ type: 'caret', version: 0, position: 0, selectionEnd: 0 });
    const { deviceId, version, position } = await there.next('caret');
    assert.deepEqual([deviceId, version, position], ['here', 0, 0]);
  });

  it('[LIVE-18] [LIVE-19] [NODE-8] continues with the other node, and stores an edit once', async (t) => {
    const [one, two] = shared().nodes;
    const room = await one.api.room();
    const first = await joinRoom(t, one.url, room, { edits: true, deviceId: 'phone' });
    const { content } = await first.next('snapshot');
    const edit = { type: 'edit', edits: insert(0, 'once'), baseVersion: 0, ref: 'r1' };
    first.send(edit);
    await first.next('written');
    first.socket.terminate();
    const again = await joinRoom(t, two.url, room, { edits: true, deviceId: 'phone', version: content.version });
    assert.deepEqual((await again.next('edit')).ref, 'r1');
    again.send(edit);
    assert.equal((await again.next('written')).version, 1);
    assert.equal((await one.api.get(`/api/rooms/${room}/content`)).json.content, 'once');
  });

  it('[TEXT-15] [NODE-1] ends a read on one node that waits for a change, when it is made on the other', async () => {
    const [one, two] = shared().nodes;
    const room = `/api/rooms/${await one.api.room()}`;
    const headers = { 'if-none-match': '"0"', 'x-device-id': 'waiting' };
    const waiting = one.api.get(`${room}/content?wait=60`, { headers });
    await eventually('it has been admitted', async () => (await two.api.get(room)).json.deviceCount === 1);
    await two.api.patch(`${room}/content`, { body: 'from the other node', headers: { 'content-type': 'text/plain' } });
    assert.equal((await waiting).json.content, 'from the other node');
  });

  it('[HIST-2] [HIST-3] has one history on both', async () => {
    const [one, two] = shared().nodes;
    const path = `/api/rooms/${await one.api.room()}`;
    const longText = 'a text that is long enough to be missed';
    await one.api.post(`${path}/content`, { json: { content: longText } });
    await two.api.post(`${path}/content`, { json: { content: '' } });
    assert.equal((await one.api.get(`${path}/history/1`)).json.content, longText);
    await one.api.delete(`${path}/history`);
    assert.deepEqual((await two.api.get(`${path}/history`)).json.history, []);
    await two.api.post(`${path}/content`, { json: { content: longText } });
    await one.api.post(`${path}/content`, { json: { content: '' } });
    const { history } = (await two.api.get(`${path}/history`)).json;
    assert.deepEqual(
      history.map(({ version }: { version: number }) => version),
      [3],
    );
  });
}

/** Letter by letter, each when the one before is stored, without looking at what others type. */
async function typeAtStart(device: Device, word: string): Promise<void> {
  let baseVersion = 0;
  for (const [n, letter] of [...word].entries()) {
    device.send({
      type: 'edit',
      edits: insert(n === 0 ? 0 : endOfWord(device, n), letter),
      baseVersion,
      ref: letter + n,
    });
    baseVersion = (await device.next('written')).version;
  }
}

/** Where the own word ends in the text that the device has. */
function endOfWord(device: Device, typed: number): number {
  const own = device.received.findLast(({ type }) => type === 'written') as Written;
  const ownDevice = own.ref?.charAt(0) ?? '';
  const known = device.received.filter(
    (message): message is TextEdited => message.type === 'edit' && message.version < own.version,
  );
  const before = known.filter(({ deviceId = '' }) => deviceId < ownDevice).length;
  return before + typed;
}

const versionsOf = ({ received }: Device) =>
  received.flatMap((message) => (message.type === 'edit' || message.type === 'written' ? message.version : []));
