/** Room keys, and the keys that derive from them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { decodeBase64url, encodeBase64url } from '../../../src/client/crypto/base64url.ts';
import {
  createSalt,
  deriveKeys,
  parseSalt,
  portableScrypt,
  scrypt,
  verifierOf,
} from '../../../src/client/crypto/keys.ts';
import { formatRoomKey, generateRoomKey, parseRoomKey } from '../../../src/client/crypto/room-key.ts';
import { codeSymbols } from '../../../src/protocol/room-code.ts';
import { throwsWith } from './encrypted-room.ts';
import vectors from './vectors.json' with { type: 'json' };

describe('a room key', () => {
  it('[CRYPT-1] has 16 symbols in groups of four, and is different each time', () => {
    const keys = Array.from({ length: 200 }, generateRoomKey);
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) {
      assert.match(key, /^[0-9A-HJKMNP-TV-Z]{16}$/);
      assert.match(formatRoomKey(key), /^(\w{4}-){3}\w{4}$/);
      assert.equal(parseRoomKey(formatRoomKey(key)), key);
    }
    const drawn = new Set(keys.flatMap((key) => [...key.slice(0, 15)]));
    assert.deepEqual([...drawn].sort().join(''), codeSymbols, 'every symbol occurs');
  });

  it('[CRYPT-1] can be typed in any case, with spaces and dashes, O for 0, and I and L for 1', () => {
    const key = parseRoomKey(vectors.roomKey);
    assert.equal(key, 'H4T9WZ3BNQ6YRC88');
    const typed = ['h4t9wz3bnq6yrc88', ' H4T9 WZ3B\nNQ6Y RC88 ', 'H4T9–WZ3B—NQ6Y-RC88', 'h4-t9-wz-3b-nq-6y-rc-88'];
    for (const text of typed) assert.equal(parseRoomKey(text), key, text);
    const withDigits = keyWith(/[01]/);
    assert.equal(parseRoomKey(withDigits.replaceAll('0', 'o').replaceAll('1', 'l')), withDigits);
    assert.equal(parseRoomKey(withDigits.replaceAll('0', 'O').replaceAll('1', 'I')), withDigits);
  });

  it('[CRYPT-1] is rejected with another check symbol, and if it is not a key', () => {
    for (const symbol of codeSymbols.replace('8', '')) {
      throwsWith('KEY_MISTYPED', () => parseRoomKey(`H4T9WZ3BNQ6YRC8${symbol}`));
    }
    const malformed = ['', '7KQ2MX', 'H4T9WZ3BNQ6YRC8', 'H4T9WZ3BNQ6YRC888', 'H4T9WZ3BNQ6YRCU8', '#H4T9WZ3BNQ6YRC88'];
    malformed.push('ẞ4T9WZ3BNQ6YRC88', `H4T9WZ3BNQ6YRC88${' '.repeat(64)}`, '٤4T9WZ3BNQ6YRC88');
    for (const text of malformed) throwsWith('KEY_MALFORMED', () => parseRoomKey(text));
  });

  it('[CRYPT-1] with one other symbol is accepted in at most one of ten cases', () => {
    const accepted = typosOf('H4T9WZ3BNQ6YRC88').filter((typo) => {
      try {
        return parseRoomKey(typo) === typo;
      } catch {
        return false;
      }
    });
    assert.ok(accepted.length < typosOf('H4T9WZ3BNQ6YRC88').length / 10, `${accepted.length} typos`);
  });

  function keyWith(pattern: RegExp): string {
    for (;;) {
      const key = generateRoomKey();
      if (pattern.test(key)) return key;
    }
  }

  const typosOf = (key: string): string[] =>
    [...key].flatMap((own, at) =>
      [...codeSymbols].filter((other) => other !== own).map((other) => key.slice(0, at) + other + key.slice(at + 1)),
    );
});

describe('the keys of a room', () => {
  it('[CRYPT-2] derive from scrypt, the same in JavaScript and in Node, while other tasks run', async () => {
    const salt = Buffer.concat([utf8ToBytes('poproom/v1'), hexToBytes(vectors.salt)]);
    const password = utf8ToBytes('H4T9WZ3BNQ6YRC88');
    assert.equal(bytesToHex(await scrypt(password, salt, 32)), vectors.master);
    let otherTasks = 0;
    const timer = setInterval(() => {
      otherTasks += 1;
    }, 1);
    assert.equal(bytesToHex(await portableScrypt(password, salt, 32)), vectors.master);
    clearInterval(timer);
    assert.ok(otherTasks >= 3, `${otherTasks} other tasks ran`);
  });

  it('[CRYPT-2] belong to one key and one salt, as the verifier shows', async () => {
    const [key, salt] = [generateRoomKey(), createSalt()];
    const keys = await deriveKeys(key, salt);
    assert.equal(new Set(Object.values(keys).map(bytesToHex)).size, 5);
    const same = await deriveKeys(key, parseSalt(encodeBase64url(salt)));
    assert.equal(verifierOf(same), verifierOf(keys));
    const others = [await deriveKeys(generateRoomKey(), salt), await deriveKeys(key, createSalt())];
    for (const other of others) assert.notEqual(verifierOf(other), verifierOf(keys));
  });

  it('[CRYPT-2] need a salt of 16 bytes', async () => {
    for (const salt of ['', 'AAAA', 'A'.repeat(21), 'A'.repeat(23), `${'A'.repeat(21)}B`, '='.repeat(22)]) {
      throwsWith('DATA_DAMAGED', () => parseSalt(salt));
    }
    await assert.rejects(deriveKeys(generateRoomKey(), new Uint8Array(15)), RangeError);
  });
});

describe('base64url', () => {
  it('[CRYPT-3] is that of Node, for any bytes', () => {
    const agrees = fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = encodeBase64url(bytes);
      assert.equal(text, Buffer.from(bytes).toString('base64url'));
      assert.deepEqual(decodeBase64url(text), bytes);
    });
    fc.assert(agrees, { numRuns: 300 });
  });

  it('[CRYPT-3] has one form for each string of bytes', () => {
    const isUnique = fc.property(fc.string({ unit: fc.constantFrom(...'AQgw_-+/=\n9é'), maxLength: 8 }), (text) => {
      const bytes = decodeBase64url(text);
      if (bytes) assert.equal(encodeBase64url(bytes), text);
    });
    fc.assert(isUnique, { numRuns: 2000 });
    for (const text of ['A', 'AB', 'AAB', 'AA==', 'A A', 'AA\n', '++', '//', 'é0']) {
      assert.equal(decodeBase64url(text), undefined, text);
    }
  });
});
