import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawApiKey, hashApiKey, looksLikeApiKey } from '../../src/core/clients.ts';

describe('an API key', () => {
  it('[KEY-1] is pop_ and 32 letters or digits, with an id that does not reveal it', () => {
    for (let draws = 0; draws < 200; draws++) {
      const { id, text } = drawApiKey();
      assert.match(text, /^pop_[0-9A-Za-z]{32}$/);
      assert.match(id, /^[0-9a-f]{10}$/);
      assert.ok(looksLikeApiKey(text));
      assert.ok(!text.includes(id));
    }
  });

  it('[KEY-1] uses all letters and digits, and never repeats', () => {
    const texts = Array.from({ length: 500 }, () => drawApiKey().text);
    assert.equal(new Set(texts).size, 500);
    const drawn = new Set(texts.flatMap((text) => [...text.slice(4)]));
    assert.equal(drawn.size, 62);
  });

  it('[KEY-1] comes with the SHA-256 of its text', () => {
    const { text, hash } = drawApiKey();
    assert.equal(hash, hashApiKey(text));
    assert.equal(hashApiKey('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('[KEY-2] is not looked up if a text cannot be one', () => {
    const { text } = drawApiKey();
    const others = [
      '',
      'pop_',
      text.slice(0, -1),
      `${text}a`,
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
      `POP_${text.slice(4)}`,
    ];
    for (const other of [...others, `pop-${text.slice(4)}`, `pop_${'é'.repeat(32)}`]) {
      assert.equal(looksLikeApiKey(other), false, JSON.stringify(other));
    }
  });
});
