/** Many devices edit one text at the same time, over a network that delays and loses: random runs, by their seeds. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import type { TextEntry } from '../../src/core/ports/texts.ts';
import { applyEdits } from '../../src/text/edits.ts';
import { type Random, randomFromSeed } from '../support/seeded-random.ts';
import { createNetwork, type Network, type SimulatedDevice } from './text-network.ts';
import { anyPosition, createTypist, createWords, type Words } from './typist.ts';

/** How often each property is tested with random edits. */
const amounts = [
  { mark: '', runs: 50 },
  { mark: '[slow] ', runs: Number(process.env.POPROOM_SYNC_RUNS ?? 250) },
];

/** Pairs, marks that combine, ends of lines, NUL, right-to-left. */
const characters = [
  'a',
  'b',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '\0',
  '😀',
  '👩‍👧',
  '🏳️‍🌈',
  'é',
  '\u0301',
  'ש',
  'ل',
  '\u202e',
  '𝄞',
];

describe('a text that several devices edit', () => {
  for (const { mark, runs } of amounts) {
    it(`${mark}[SYNC-1] becomes the same everywhere`, async (t) => {
      await repeat(t, runs, async (random) => {
        const network = createNetwork(random, 2 + random.number(5));
        await run(random, network, (device) => editSomehow(random, device), { reloads: true, dropsLog: true });
        await assertSame(network);
      });
    });

    it(`${mark}[SYNC-1] becomes the same everywhere after the server has lost the newest edits`, async (t) => {
      await repeat(t, runs, async (random) => {
        const network = createNetwork(random, 2 + random.number(3));
        for (let failover = 0; failover < 2; failover++) {
          await run(random, network, (device) => editSomehow(random, device), { rounds: 20, reloads: true });
          network.failOver(1 + random.number(4));
        }
        await assertSame(network);
      });
    });

    it(`${mark}[SYNC-2] does not interleave words that are typed at the same position`, async (t) => {
      await repeat(t, runs, async (random) => {
        const network = createNetwork(random, 2 + random.number(5));
        const words = createWords();
        // Before the text is there, everything is appended to it: at the edge of someone's word, maybe.
        await network.settle();
        const typists = new Map(network.devices.map((device) => [device, createTypist(random, device, words)]));
        await run(random, network, (device) => typists.get(device)?.act());
        await assertSame(network);
        touchByRemovals(words, network.authority.log);
        for (const { typed, isTouched } of words.all) {
          assert.ok(isTouched || network.authority.text.includes(typed), `${typed} was torn apart`);
        }
      });
    });

    it(`${mark}[SYNC-3] has every edit exactly once, despite lost responses, reconnects, reloads and a lost log`, async (t) => {
      await repeat(t, runs, async (random) => {
        const network = createNetwork(random, 2 + random.number(3));
        const inserted: string[] = [];
        const insert = ({ text }: SimulatedDevice) => {
          const letter = String.fromCharCode(0xe000 + inserted.length);
          inserted.push(letter);
          text.insert(random.number(text.value.length + 1), letter);
        };
        await run(random, network, insert, { reloads: true, dropsLog: true });
        await assertSame(network);
        // Edits whose place is not known any more go on lines of their own.
        assert.deepEqual([...network.authority.text.replaceAll('\n', '')].sort(), inserted);
      });
    });

    it(`${mark}[SYNC-4] loses only the edits of a device that undoes everything`, async (t) => {
      await repeat(t, runs, async (random) => {
        const network = createNetwork(random, 2 + random.number(4));
        const [undoer] = network.devices;
        const others: string[] = [];
        const insertOwn = ({ text }: SimulatedDevice) => {
          const letter = String.fromCharCode(0xe000 + others.length);
          others.push(letter);
          text.insert(anyPosition(random, text.value), letter);
        };
        const act = (device: SimulatedDevice) => {
          if (device === undoer) editSomehow(random, device);
          else if (random.number(3) > 0) insertOwn(device);
          else removeFrom(random, device, isOfUndoer);
        };
        await run(random, network, act);
        if (random.number(2) === 0) await network.settle();
        while (undoer?.text.undo());
        await assertSame(network);
        assert.deepEqual([...network.authority.text].sort(), others);
        while (undoer?.text.redo());
        await assertSame(network);
      });
    });
  }

  it('[SYNC-1] becomes the same everywhere if others split an edit into more ranges than it may have', async () => {
    for (const isOffline of [false, true]) {
      const network = createNetwork(randomFromSeed(1), 2);
      const [remover] = network.devices as [SimulatedDevice];
      await network.settle();
      remover.text.append('x'.repeat(3000));
      await network.settle();
      if (isOffline) network.disconnect(remover);
      remover.text.edit([{ from: 0, to: 3000, insert: '' }]);
      remover.text.append('mine');
      const writer = { deviceId: 'writer', isOpen: true, send: () => undefined };
      for (let round = 0; round < 6; round++) {
        const starts = Array.from({ length: 250 }, (_, n) => 750 * round + 2 * n);
        const edits = starts.map((at) => ({ from: at, to: at, insert: 'y' }));
        await network.authority.receive(writer, { type: 'edit', edits, baseVersion: network.authority.version });
      }
      await assertSame(network);
      assert.equal(network.authority.text.replace('mine', '').length, 1500);
    }
  });
});

/**
 * A removal may bring two places together that were apart for those who type there; which of them is first is not known
 * any more. So a removal beside a word counts as an edit at its edge, wherever it was made. So does a removal that the
 * word replaces: if the server stores it before an insertion at its end, the next letters are ordered by device.
 */
function touchByRemovals(words: Words, log: readonly TextEntry[]): void {
  let text = '';
  for (const { edits } of log) {
    const removals = edits.filter(({ from, to }) => from < to);
    for (const { from, to } of removals) words.touch(text, from, to);
    for (const { insert } of removals) words.touch(insert, 0, insert.length);
    text = applyEdits(text, edits);
  }
}

interface RunOptions {
  rounds?: number;
  reloads?: boolean;
  dropsLog?: boolean;
}

/** Devices act, and the network does what networks do. */
async function run(random: Random, network: Network, act: (device: SimulatedDevice) => void, options: RunOptions = {}) {
  const { rounds = 60, reloads, dropsLog } = options;
  for (const device of network.devices) await network.connect(device);
  for (let round = 0; round < rounds; round++) {
    const device = random.pick(network.devices);
    const kind = random.number(100);
    if (kind < 30) act(device);
    else if (kind < 36) await network.connect(device);
    else if (kind < 39) network.disconnect(device);
    else if (kind < 42 && reloads) network.reload(device);
    else if (kind < 44 && dropsLog) network.authority.dropLog();
    else await network.step();
  }
}

const isOfUndoer = (letter: string) => letter < '\ue000' || letter > '\uf8ff';

/** Removes one letter of a kind. */
function removeFrom(random: Random, { text }: SimulatedDevice, isOfKind: (letter: string) => boolean): void {
  const letters = [...text.value];
  const index = random.number(letters.length + 1);
  const letter = letters[index];
  if (letter === undefined || !isOfKind(letter)) return;
  const from = letters.slice(0, index).join('').length;
  text.edit([{ from, to: from + letter.length, insert: '' }]);
}

function editSomehow(random: Random, { text }: SimulatedDevice): void {
  const { length } = text.value;
  const word = () => Array.from({ length: 1 + random.number(3) }, () => random.pick(characters)).join('');
  const from = random.number(length + 1);
  const to = Math.min(length, from + random.number(4));
  const kind = random.number(10);
  if (kind < 4) text.insert(from, word());
  else if (kind < 6) text.edit([{ from, to, insert: '' }]);
  else if (kind < 7) text.edit([{ from, to, insert: word() }]);
  else if (kind < 8) text.undo();
  else if (kind < 9) text.redo();
  else {
    const next = to + random.number(length - to + 1);
    text.edit([
      { from, to, insert: word() },
      { from: next, to: length - random.number(length - next + 1), insert: word() },
    ]);
  }
}

async function assertSame({ authority, devices, settle }: Network): Promise<void> {
  await settle();
  for (const { text, id } of devices) {
    assert.equal(text.value, authority.text, `${id} differs`);
    assert.equal(text.version, authority.version);
  }
  assert.equal(
    authority.log.reduce((text, { edits }) => applyEdits(text, edits), ''),
    authority.text,
  );
  assert.ok(authority.text.isWellFormed());
}

async function repeat(t: TestContext, runs: number, run: (random: Random) => Promise<void>): Promise<void> {
  const given = process.env.POPROOM_TEST_SEED;
  const first = given === undefined ? randomInt(2 ** 31) : Number(given);
  for (let index = 0; index < (given === undefined ? runs : 1); index++) {
    const seed = first + index;
    await run(randomFromSeed(seed)).catch((error) => {
      t.diagnostic(`to repeat this run: POPROOM_TEST_SEED=${seed}`);
      throw error;
    });
  }
}
