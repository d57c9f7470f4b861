/** The memory of texts that are being edited. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RoomCode } from '../../src/core/room-code.ts';
import { TextCache, WorkingText } from '../../src/core/text/working-text.ts';

import { eventually } from '../support/eventually.ts';

const MiB = 1024 * 1024;

function textOf(length: number): WorkingText {
  const content = { content: 'x'.repeat(length), version: 1, writtenAt: 0 };
  return new WorkingText({
    content,
    entries: [],
    logBytes: 0,
    lastRefs: [],
    revision: 1,
    fullTextVersion: 1,
    checkpointVersion: 0,
    keepsHistory: true,
  });
}

const codeOf = (n: number) => `ROOM${n}` as RoomCode;

describe('the cache of texts', () => {
  it('[TEXT-8] keeps the texts that were used last, within 64 MiB', () => {
    const cache = new TextCache();
    const texts = Array.from({ length: 100 }, (_, n) => ({ code: codeOf(n), text: textOf(MiB) }));
    for (const { code, text } of texts) cache.put(code, text);
    assert.ok(cache.cost <= 64 * MiB && cache.cost > 60 * MiB, `${cache.cost}`);
    assert.equal(cache.get(codeOf(0)), undefined);
    assert.equal(cache.get(codeOf(99)), texts[99]?.text);
    // One that is used stays, though it was there before others.
    const oldest = texts.findIndex(({ code }) => cache.get(code));
    cache.put(codeOf(oldest), texts[oldest]?.text as WorkingText);
    cache.put(codeOf(100), textOf(MiB));
    assert.ok(cache.get(codeOf(oldest)));
    assert.equal(cache.get(codeOf(oldest + 1)), undefined);
  });

  it('[TEXT-8] counts what edits add to a text', () => {
    const cache = new TextCache();
    const text = textOf(10);
    cache.put(codeOf(1), text);
    const before = cache.cost;
    const edits = [{ from: 0, to: 0, insert: 'y'.repeat(MiB) }];
    text.add(
      { version: 2, edits, deviceId: undefined, ref: undefined, writtenAt: 0 },
      { document: text.document.apply(edits), bytes: MiB + 10, revision: 2 },
    );
    cache.put(codeOf(1), text);
    assert.ok(cache.cost >= before + MiB);
    cache.delete(codeOf(1));
    assert.equal(cache.cost, 0);
  });

  it('[TEXT-8] drops a text that is not used for a while, and keeps one that is', async () => {
    const cache = new TextCache(50);
    const used = textOf(10);
    cache.put(codeOf(1), textOf(10));
    await eventually('the idle one is gone', () => {
      cache.put(codeOf(2), used);
      return cache.get(codeOf(1)) === undefined;
    });
    assert.equal(cache.get(codeOf(2)), used);
    await eventually('so is the other one', () => cache.get(codeOf(2)) === undefined);
    assert.equal(cache.cost, 0);
  });

  it('keeps a text with unconfirmed edits', () => {
    const cache = new TextCache();
    const text = textOf(MiB);
    text.onAppend(new Promise(() => undefined));
    cache.put(codeOf(0), text);
    for (let n = 1; n < 100; n++) cache.put(codeOf(n), textOf(MiB));
    assert.equal(cache.get(codeOf(0)), text);
  });
});
