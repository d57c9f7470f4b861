/** Several people who type into one text at the same time. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  joinRoom,
  sharedTestSite,
  showsStatus,
  showsText,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { type Random, seededRandom } from '../support/seeded-random.ts';
import { type RoomKind, roomKinds } from './support/encrypted.ts';
import { startSlowProxy } from './support/slow-proxy.ts';
import { agreedText, assertWhole, inputMethod, putCaret, typeAsPerson, undoAll, write } from './support/typing.ts';

const berries = ['strawberries', 'blueberries', 'raspberries', 'gooseberries', 'cloudberries'];

/** A site whose programs create rooms of one kind. */
interface SceneSite extends TestSite {
  newRoom(): Promise<string>;
}

interface Scene {
  site: SceneSite;
  random: Random;
  code: string;
  devices: BrowserDevice[];
}

/** A room with this text, open on a number of pages. */
async function enterRoom(site: SceneSite, random: Random, people: number, content = ''): Promise<Scene> {
  const code = await site.newRoom();
  if (content !== '') await write(site, code, content);
  const devices = await Promise.all(Array.from({ length: people }, () => joinRoom(site, code)));
  for (const device of devices) await showsText(device, content);
  return { site, random, code, devices };
}

/** Each page types a word at its own position. */
async function typeTogether({ devices, random }: Scene, places: readonly number[]): Promise<void> {
  await Promise.all(devices.map((device, i) => putCaret(device, places[i] ?? 0)));
  await Promise.all(devices.map((device, i) => typeAsPerson(device, berries[i] as string, random)));
}

async function assertAllWhole({ site, code, devices }: Scene): Promise<string> {
  const text = await agreedText(site, code, devices);
  assertWhole(text, berries.slice(0, devices.length));
  return text;
}

/** The first takes back all that they typed; what the others typed stays. */
async function assertUndoIsOwn({ site, code, devices }: Scene, before: string): Promise<void> {
  const [first, ...others] = devices as [BrowserDevice, ...BrowserDevice[]];
  const [own = '', ...theirs] = berries.slice(0, devices.length);
  await undoAll(first);
  const text = await agreedText(site, code, [first, ...others]);
  assertWhole(text, theirs);
  assert.equal(text, before.replace(own, ''));
}

const scenes: Record<string, (site: SceneSite, random: Random, t: TestContext) => Promise<void>> = {
  async 'two in an empty room'(site, random) {
    const scene = await enterRoom(site, random, 2);
    await typeTogether(scene, [0, 0]);
    await assertUndoIsOwn(scene, await assertAllWhole(scene));
  },

  async 'three at the end of a line'(site, random) {
    const line = 'to buy: ';
    const scene = await enterRoom(site, random, 3, `${line}\nand the second line`);
    await typeTogether(scene, [line.length, line.length, line.length]);
    await assertUndoIsOwn(scene, await assertAllWhole(scene));
  },

  async 'five at the end of the text'(site, random) {
    const scene = await enterRoom(site, random, 5, 'fruit: ');
    await typeTogether(scene, [7, 7, 7, 7, 7]);
    await assertUndoIsOwn(scene, await assertAllWhole(scene));
  },

  async 'two in the middle of a word'(site, random) {
    const scene = await enterRoom(site, random, 2, 'keyboard');
    await typeTogether(scene, [3, 3]);
    const text = await assertAllWhole(scene);
    assert.match(text, /^key\w+board$/);
    await assertUndoIsOwn(scene, text);
  },

  async 'three on different lines'(site, random) {
    const scene = await enterRoom(site, random, 3, 'one: \ntwo: \nthree: ');
    await typeTogether(scene, [5, 11, 19]);
    const text = await assertAllWhole(scene);
    assert.equal(text, `one: ${berries[0]}\ntwo: ${berries[1]}\nthree: ${berries[2]}`);
    await assertUndoIsOwn(scene, text);
  },

  async 'one of them over a slow line'(site, random, t) {
    const scene = await enterRoom(site, random, 1, 'slow: ');
    const baseURL = await startSlowProxy(t, site.server.port, 300);
    scene.devices.push(await joinRoom(site, scene.code, { baseURL }));
    await typeTogether(scene, [6, 6]);
    await assertUndoIsOwn(scene, await assertAllWhole(scene));
  },

  async 'one of them with an input method'(site, random) {
    const scene = await enterRoom(site, random, 2, 'hello ');
    const [writer, typist] = scene.devices as [BrowserDevice, BrowserDevice];
    for (const device of scene.devices) await putCaret(device, 6);
    const { compose, commit } = await inputMethod(writer);
    let hasTyped = false;
    await Promise.all([
      typeAsPerson(typist, berries[0] as string, random).finally(() => {
        hasTyped = true;
      }),
      (async () => {
        for (const step of ['に', 'にほ', 'にほん', 'にほんご']) {
          await compose(step);
          const seen = (await textOf(typist).inputValue()).length;
          const isLonger = async () => (await textOf(typist).inputValue()).length > seen;
          await eventually('the typist goes on', async () => hasTyped || (await isLonger()));
        }
        await commit('日本語');
      })(),
    ]);
    assertWhole(await agreedText(site, scene.code, scene.devices), ['日本語', berries[0] as string, 'hello ']);
  },

  async 'a program writes in between'(site, random) {
    const scene = await enterRoom(site, random, 2, 'list:\n');
    const { api } = site.server;
    const path = `/api/rooms/${scene.code}/content`;
    const hasLetters = (letters: string) =>
      eventually(`“${letters}” is stored`, async () => (await api.get(path)).json.content.includes(letters));
    await Promise.all([
      typeTogether(scene, [5, 6]),
      (async () => {
        await hasLetters('straw');
        await eventually('a line is posted', async () => {
          // Only if nothing was typed since the read. Otherwise the write would remove the newest letters.
          const { json, headers } = await api.get(path);
          const sending = {
            json: { content: `${json.content}\nposted` },
            headers: { 'if-match': headers.get('etag') ?? '' },
          };
          return (await api.post(path, sending)).status === 200;
        });
        await hasLetters('strawber');
        await api.call('PATCH', path, { json: { append: '\nappended' } });
      })(),
    ]);
    const text = await assertAllWhole(scene);
    assertWhole(text, ['posted', 'appended']);
    await assertUndoIsOwn(scene, text);
  },

  async 'one of them offline for five seconds'(site, random) {
    const scene = await enterRoom(site, random, 2, 'travel: ');
    const [traveller, reader] = scene.devices as [BrowserDevice, BrowserDevice];
    const [own, theirs] = [
      'written in the tunnel, with no network at all',
      'written at home at the same time, as ever',
    ];
    await traveller.context.setOffline(true);
    await showsStatus(traveller, 'Offline');
    for (const device of scene.devices) await putCaret(device, 'travel: '.length);
    await Promise.all([typeAsPerson(traveller, own, random), typeAsPerson(reader, theirs, random)]);
    await traveller.context.setOffline(false);
    const text = await agreedText(site, scene.code, scene.devices);
    assertWhole(text, [own, theirs]);
    assert.equal(text.length, `travel: ${own}${theirs}`.length, 'each of them once');
  },
};

/** Plays scenes, some of them at the same time. Each gives its pages back at its end. */
async function playAll(t: TestContext, kind: RoomKind, names: readonly string[]): Promise<void> {
  const random = seededRandom(t);
  const play = async (name: string, t: TestContext) => {
    const site = await sharedTestSite(t);
    await scenes[name]?.({ ...site, newRoom: () => roomKinds[kind](site) }, random, t);
  };
  await Promise.all(names.map((name) => t.test(name, (t) => play(name, t))));
}

const mainScenes = ['two in the middle of a word'];
const otherScenes = Object.keys(scenes).filter((name) => !mainScenes.includes(name));

describe('the page, typing together', () => {
  it('[PAGE-24] [SYNC-2] [SYNC-3] [SYNC-4] keeps every word intact on every page', (t) =>
    playAll(t, 'plain', mainScenes));

  it(
    '[slow] [PAGE-24] [SYNC-2] [SYNC-3] [SYNC-4] keeps every word intact in any scene',
    {
      concurrency: 3,
      timeout: 300_000,
    },
    (t) => playAll(t, 'plain', otherScenes),
  );

  it('[SEALED-63] keeps every word intact in an encrypted room too', (t) =>
    playAll(t, 'encrypted', ['two in an empty room']));

  it('[slow] [SEALED-63] keeps every word intact in an encrypted room with three people, or over a slow line', (t) =>
    playAll(t, 'encrypted', ['three at the end of a line', 'one of them over a slow line']));
});
