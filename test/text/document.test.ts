/** A text in pieces. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { replay, TextDocument } from '../../src/text/document.ts';
import { applyEdits, type TextEdit } from '../../src/text/edits.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

const anyEdit = fc.tuple(fc.nat(), fc.nat(20), fc.string({ maxLength: 5 }));

function editOf([position, removed, insert]: [number, number, string], length: number): TextEdit {
  const from = position % (length + 1);
  return { from, to: Math.min(length, from + removed), insert };
}

describe('a text in pieces', () => {
  it('[TEXT-7] is the result of its edits, whatever they are', () => {
    const same = fc.property(fc.string({ maxLength: 300 }), fc.array(anyEdit, { maxLength: 200 }), (start, drawn) => {
      let [document, text] = [TextDocument.of(start), start];
      for (const one of drawn) {
        const edit = editOf(one, text.length);
        document = document.apply([edit]);
        text = applyEdits(text, [edit]);
        assert.equal(document.length, text.length);
        assert.equal(document.slice(edit.from, edit.from + 9), text.slice(edit.from, edit.from + 9));
      }
      assert.equal(document.toString(), text);
    });
    fc.assert(same, { seed: 1, numRuns: 200 });
  });

  it('[TEXT-8] keeps earlier versions as they were', () => {
    const first = TextDocument.of('abc');
    const second = first.apply([{ from: 1, to: 2, insert: 'X' }]);
    second.toString();
    assert.deepEqual([first.toString(), second.toString()], ['abc', 'aXc']);
  });

  it('[TEXT-8] takes little time for edits of many ranges, whatever the text contains', () => {
    for (const text of ['x'.repeat(2 ** 20), '\n'.repeat(2 ** 20), 'ж'.repeat(2 ** 19)]) {
      const step = Math.floor(text.length / 1001);
      const edits = Array.from({ length: 1000 }, (_, n) => ({ from: n * step, to: n * step + 1, insert: 'y' }));
      const log = Array.from({ length: 50 }, () => edits);
      const cpuMs = cpuMsOf(() => assert.equal(replay(text, log).length, text.length), 1000);
      assert.ok(cpuMs < 1000, `${cpuMs} ms of CPU for 50 edits`);
    }
  });

  it('[TEXT-8] does not keep a long text in memory that it was cut from', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const documents = Array.from({ length: 60 }, (_, n) =>
      TextDocument.of(`${n}`.repeat(1_000_000)).apply([{ from: 40, to: `${n}`.repeat(1_000_000).length, insert: '' }]),
    );
    gc();
    const before = process.memoryUsage().heapUsed;
    documents.length = 0;
    gc();
    const held = before - process.memoryUsage().heapUsed;
    assert.ok(held < 20_000_000, `${held} bytes for 60 texts of 40 characters`);
  });
});
