/** Sealed texts, edits, names and file metadata: what opens them, and what does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { decodeBase64url, encodeBase64url } from '../../../src/client/crypto/base64url.ts';
import { sealEnvelope } from '../../../src/client/crypto/envelope.ts';
import type { EncryptedRoom } from '../../../src/client/crypto/keys.ts';
import {
  createFileSalt,
  openDeviceName,
  openFileMetadata,
  openRoomName,
  sealDeviceName,
  sealFileMetadata,
  sealRoomName,
} from '../../../src/client/crypto/metadata.ts';
import {
  chainStart,
  openEdits,
  openText,
  sealEdits,
  sealSnapshot,
  sealText,
} from '../../../src/client/crypto/text-chain.ts';
import { envelopeSize, maxRecentBytes, paddedSize, type SeenVersion } from '../../../src/protocol/sealed.ts';
import { anyEdits, anyText, editsOf } from '../../contract/any-text.ts';
import { otherCode, otherKeys, room, throwsWith } from './encrypted-room.ts';

const at: SeenVersion = { version: 6, hash: 'AQEBAQEBAQEBAQEBAQEBAQ' };
const withRecent = (count: number) => {
  const earlier = Array.from({ length: count }, (_, n) => encodeBase64url(new Uint8Array(16).fill(n)));
  return { ...at, version: 100, earlier };
};
const edits = [{ from: 0, to: 5, insert: 'Hi' }];
const metadata = { name: 'a.txt', type: 'text/plain', folder: 'b/c', size: 12, salt: createFileSalt() };

interface Kind {
  sealed: string;
  version: number;
  open(opener: EncryptedRoom, version: number, sealed: string): unknown;
}

/** One envelope of each kind, and how to open it. */
const kinds: Record<string, Kind> = {
  text: {
    sealed: sealText(room, at, 'Hello'),
    version: 7,
    open: (opener, version, sealed) => openText(opener, version, sealed).text,
  },
  snapshot: {
    sealed: sealSnapshot(room, at, 'Hello'),
    version: 6,
    open: (opener, version, sealed) => openText(opener, version, sealed).text,
  },
  edit: {
    sealed: sealEdits(room, at, edits),
    version: 7,
    open: (opener, version, sealed) => openEdits(opener, version, sealed).edits,
  },
  file: {
    sealed: sealFileMetadata(room, metadata),
    version: 0,
    open: (opener, _version, sealed) => openFileMetadata(opener, sealed),
  },
  device: {
    sealed: sealDeviceName(room, 'laptop', 'Zoë’s laptop'),
    version: 0,
    open: (opener, _version, sealed) => openDeviceName(opener, 'laptop', sealed),
  },
  room: {
    sealed: sealRoomName(room, 'Travel plans'),
    version: 0,
    open: (opener, _version, sealed) => openRoomName(opener, sealed),
  },
};
const contents = ['Hello', 'Hello', edits, metadata, 'Zoë’s laptop', 'Travel plans'];

describe('an envelope', () => {
  it('[CRYPT-3] opens with its key, kind, room code and version', () => {
    const opened = Object.values(kinds).map(({ open, sealed, version }) => open(room, version, sealed));
    assert.deepEqual(opened, contents);
    for (const { sealed } of Object.values(kinds)) assert.match(sealed, /^pop1\.[\w-]+$/);
  });

  it('[CRYPT-3] does not open with another key, room code, version, kind or device id', () => {
    for (const [name, { open, sealed, version }] of Object.entries(kinds)) {
      throwsWith('DATA_DAMAGED', () => open(otherKeys, version, sealed));
      throwsWith('DATA_DAMAGED', () => open(otherCode, version, sealed));
      for (const [otherName, other] of Object.entries(kinds)) {
        if (otherName !== name) throwsWith('DATA_DAMAGED', () => other.open(room, other.version, sealed));
      }
    }
    for (const { open, sealed, version } of [kinds.text, kinds.snapshot, kinds.edit] as Kind[]) {
      for (const other of [version - 1, version + 1, 0, 2 ** 53 - 1]) {
        throwsWith('DATA_DAMAGED', () => open(room, other, sealed));
      }
    }
    throwsWith('DATA_DAMAGED', () => openDeviceName(room, 'phone', (kinds.device as Kind).sealed));
  });

  it('[CRYPT-3] does not open if any character is changed, missing or added', () => {
    for (const { open, sealed, version } of Object.values(kinds)) {
      const damages = [
        ...Array.from(sealed, (own, n) => sealed.slice(0, n) + (own === 'A' ? 'B' : 'A') + sealed.slice(n + 1)),
        ...[1, 2, 4, 16, 22, 100].map((count) => sealed.slice(0, -count)),
        ...['A', 'AA', 'AAAA', 'A'.repeat(64), '=', '\n', ' '].map((more) => sealed + more),
        ` ${sealed}`,
        sealed.replace('pop1.', ''),
        sealed.replace('pop1.', 'pop2.'),
        sealed.replace('pop1.', 'POP1.'),
        '',
        'pop1.',
        'Hello',
      ];
      for (const damage of damages) throwsWith('DATA_DAMAGED', () => open(room, version, damage));
    }
  });

  it('[CRYPT-3] fails in the same way for any string', () => {
    const anyEnvelope = fc.oneof(fc.base64String(), anyText(300)).map((text) => `pop1.${text}`);
    const fails = fc.property(fc.oneof(fc.string(), anyEnvelope), (text) => {
      for (const { open, version } of Object.values(kinds)) throwsWith('DATA_DAMAGED', () => open(room, version, text));
    });
    fc.assert(fails, { numRuns: 200 });
  });

  it('[CRYPT-3] is different each time', () => {
    assert.notEqual(sealText(room, chainStart, 'Hello'), sealText(room, chainStart, 'Hello'));
    const nonces = Array.from({ length: 200 }, () => sealRoomName(room, '').slice(5, 5 + 32));
    assert.equal(new Set(nonces).size, 200);
  });

  it('[CRYPT-3] contains any text, edits and names', () => {
    const isKept = fc.property(anyText(400), anyEdits, fc.nat(2 ** 40), (text, drawn, version) => {
      const position = { version, hash: at.hash };
      assert.equal(openText(room, version + 1, sealText(room, position, text)).text, text);
      assert.equal(openText(room, version, sealSnapshot(room, position, text)).text, text);
      const drawnEdits = editsOf(drawn, text);
      assert.deepEqual(openEdits(room, version + 1, sealEdits(room, position, drawnEdits)).edits, drawnEdits);
      assert.equal(openDeviceName(room, text, sealDeviceName(room, text, text)), text);
      const file = { name: text, type: text, size: version, salt: createFileSalt() };
      assert.deepEqual(openFileMetadata(room, sealFileMetadata(room, file)), file);
    });
    fc.assert(isKept, { numRuns: 100 });
    for (const text of ['', '\u0000', '\ufeffBOM', '\u0080', `${'\u0000'.repeat(300)}`, 'x'.repeat(1024 * 1024)]) {
      assert.equal(openText(room, 1, sealText(room, chainStart, text)).text, text);
    }
  });

  it('[CRYPT-3] is not made of half a surrogate pair or an invalid version', () => {
    assert.throws(() => sealText(room, at, '\ud800'), TypeError);
    assert.throws(() => sealRoomName(room, '\udc00'), TypeError);
    for (const version of [-2, 0.5, Number.NaN, 2 ** 53]) {
      assert.throws(() => sealText(room, { ...at, version }, ''), RangeError);
    }
    assert.throws(() => sealText(room, { version: 6, hash: 'AQEB' }, ''), RangeError);
    assert.throws(() => sealEdits(room, at, [{ from: 0, to: 0, insert: '\ud800' }]), RangeError);
    assert.throws(() => sealEdits(room, at, new Array(10_001).fill({ from: 0, to: 0, insert: '' })), RangeError);
  });

  it('[CRYPT-3] with a payload of another shape does not open, even if its key is right', () => {
    const shapes = [
      '',
      '{}',
      '[1]',
      'null',
      '[null]',
      '[{"from":-1,"to":0,"insert":""}]',
      '[{"from":1,"to":0,"insert":""}]',
    ];
    shapes.push('[{"from":0,"to":2,"insert":""},{"from":1,"to":3,"insert":""}]', '[{"from":0,"to":0,"insert":1}]');
    shapes.push('[{"from":0,"to":0,"insert":"\\ud800"}]', '[{"from":0.5,"to":1,"insert":""}]', '[]]');
    shapes.push(JSON.stringify(new Array(10_001).fill({ from: 0, to: 0, insert: '' })), '['.repeat(200_000));
    for (const json of shapes) {
      throwsWith('DATA_DAMAGED', () => openEdits(room, 7, sealPayload('edit', 7, utf8ToBytes(json))));
    }
    const { salt, ...rest } = { ...metadata, salt: encodeBase64url(metadata.salt) };
    const files: unknown[] = [null, [], rest, { ...rest, salt: 'AAAA' }, { ...rest, salt, size: -1 }];
    files.push({ ...rest, salt, size: 0.5 }, { ...rest, salt, name: 1 }, { ...rest, salt, type: null });
    files.push({ ...rest, salt, folder: 1 });
    for (const file of files) {
      const sealed = sealPayload('file', 0, utf8ToBytes(JSON.stringify(file)));
      throwsWith('DATA_DAMAGED', () => openFileMetadata(room, sealed));
    }
    const newer = sealPayload('file', 0, utf8ToBytes(JSON.stringify({ ...rest, salt, added: 'later' })));
    assert.deepEqual(openFileMetadata(room, newer), metadata);
    throwsWith('DATA_DAMAGED', () => openText(room, 7, sealPayload('text', 7, new Uint8Array([0, 0xff]))));
    throwsWith('DATA_DAMAGED', () => openRoomName(room, sealPayload('room', 0, utf8ToBytes('x'), 1)));
  });

  it('[CRYPT-11] contains the hashes of up to 64 versions before it, if it is a full text', () => {
    for (const count of [0, 1, 64]) {
      const position = withRecent(count);
      const text = openText(room, 101, sealText(room, position, 'Hello'));
      assert.deepEqual([text.text, text.link.earlier], ['Hello', [position.hash, ...position.earlier]]);
      const snapshot = openText(room, 100, sealSnapshot(room, position, 'Hello'));
      assert.deepEqual(snapshot, { text: 'Hello', link: position });
    }
    assert.throws(() => sealText(room, withRecent(65), ''), RangeError);
    assert.throws(() => sealText(room, { ...at, earlier: ['AQEB'] }, ''), RangeError);
  });

  it('[CRYPT-11] is damaged if the list is missing, cut, too long or goes back further than version 1', () => {
    const open = (version: number, ...bytes: number[]) =>
      openText(room, version, sealPayload('text', version, Uint8Array.from(bytes)));
    const hashes = (count: number) => new Array(count * 16).fill(1);
    assert.equal(open(7, 5, ...hashes(5), 72).text, 'H');
    assert.equal(open(100, 64, ...hashes(64)).text, '');
    throwsWith('DATA_DAMAGED', () => open(7));
    throwsWith('DATA_DAMAGED', () => open(7, ...utf8ToBytes('Hello, as before the list')));
    throwsWith('DATA_DAMAGED', () => open(7, 2, ...hashes(2).slice(1)));
    throwsWith('DATA_DAMAGED', () => open(7, 6, ...hashes(6)));
    throwsWith('DATA_DAMAGED', () => open(100, 65, ...hashes(65)));
  });

  function sealPayload(
    kind: 'text' | 'edit' | 'file' | 'room',
    version: number,
    payload: Uint8Array,
    hash = 0,
  ): string {
    const key = kind === 'text' || kind === 'edit' ? room.keys.text : room.keys.meta;
    return sealEnvelope(key, { kind, code: room.code, version }, { previous: new Uint8Array(16).fill(hash), payload });
  }
});

describe('the padding of an envelope', () => {
  const bytesIn = (envelope: string) => (decodeBase64url(envelope.slice(5)) as Uint8Array).length - 24 - 16;

  it('[CRYPT-4] hides sizes: at least 256 bytes, 64 for names, then Padmé', () => {
    const sizes = (lengths: number[]) => lengths.map((length) => bytesIn(sealText(room, at, 'x'.repeat(length))));
    assert.deepEqual(sizes([0, 1, 238, 239, 253, 254, 1000, 100_000]), [256, 256, 256, 272, 272, 272, 1024, 100_352]);
    assert.equal(bytesIn((kinds.edit as Kind).sealed), 256);
    assert.equal(bytesIn((kinds.device as Kind).sealed), 64);
    assert.equal(bytesIn((kinds.room as Kind).sealed), 64);
    assert.equal(bytesIn((kinds.file as Kind).sealed), 256);
    assert.equal(bytesIn((kinds.snapshot as Kind).sealed), 256);
  });

  it('[CRYPT-4] makes the size of an envelope predictable', () => {
    for (const length of [0, 47, 239, 240, 5000, 100_000]) {
      const text = 'x'.repeat(length);
      assert.equal(envelopeSize('text', 1 + length), sealText(room, at, text).length);
      assert.equal(envelopeSize('text', maxRecentBytes + length), sealText(room, withRecent(64), text).length);
      assert.equal(envelopeSize('device', length), sealDeviceName(room, 'laptop', text).length);
    }
  });

  it('[CRYPT-4] follows the definition of Padmé, and adds at most 12 %', () => {
    const isPadme = fc.property(fc.bigInt({ min: 2n, max: 2n ** 52n }), (size) => {
      const padded = paddedSize(Number(size), 0);
      assert.equal(BigInt(padded), padme(size));
      assert.ok(padded >= Number(size) && padded <= Number(size) * 1.12);
      assert.equal(paddedSize(padded, 0), padded);
    });
    fc.assert(isPadme, {
      numRuns: 1000,
      examples: [[2n], [3n], [9n], [2n ** 32n - 1n], [2n ** 32n], [2n ** 32n + 1n]],
    });
  });

  /** As in the paper of its authors. */
  function padme(size: bigint): bigint {
    const exponent = size.toString(2).length - 1;
    const zeroBits = BigInt(exponent - (Math.floor(Math.log2(exponent)) + 1));
    const mask = (1n << (zeroBits > 0n ? zeroBits : 0n)) - 1n;
    return (size + mask) & ~mask;
  }

  it('[CRYPT-4] is checked: an envelope with another padding does not open', () => {
    const content = concatBytes(new Uint8Array(17), utf8ToBytes('Hello'));
    const padded = (...rest: number[]) => Uint8Array.from([...content, ...rest]);
    const fill = (size: number, ...start: number[]) =>
      padded(...start, ...new Array(size - content.length - start.length).fill(0));
    assert.equal(openText(room, 7, sealPadded(fill(256, 0x80))).text, 'Hello');
    const wrong = [fill(256), fill(256, 0x81), fill(256, 0x80, 1), fill(264, 0x80), fill(512, 0x80), fill(255, 0x80)];
    wrong.push(
      fill(256, 0x40),
      new Uint8Array(256),
      Uint8Array.from([0x80, ...new Array(255).fill(0)]),
      new Uint8Array(0),
    );
    for (const bytes of wrong) throwsWith('DATA_DAMAGED', () => openText(room, 7, sealPadded(bytes)));
  });

  /** A sealed text with this content, whatever its padding. */
  function sealPadded(bytes: Uint8Array): string {
    const nonce = new Uint8Array(24).fill(9);
    const data = concatBytes(utf8ToBytes('poproom/v1/text\0' + '7KQ2MX\0'), Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 7]));
    const sealed = xchacha20poly1305(room.keys.text, nonce, data).encrypt(bytes);
    return `pop1.${encodeBase64url(concatBytes(nonce, sealed))}`;
  }
});
