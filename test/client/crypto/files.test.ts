/** Encrypted files: streams, ranges, resumed uploads, and everything that a server could do to the bytes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createChunkCipher, portableCipher } from '../../../src/client/crypto/chunk-cipher.ts';
import { type ByteRange, createFileCipher, fileLayout } from '../../../src/client/crypto/file-cipher.ts';
import { createFileSalt, openFileMetadata, sealFileMetadata } from '../../../src/client/crypto/metadata.ts';
import { EncryptionError } from '../../../src/client/error.ts';
import { otherKeys, rejectsWith, room, throwsWith } from './encrypted-room.ts';
import { bytesOf, streamOf } from './streams.ts';

const chunk = 64 * 1024;
const sealedChunk = chunk + 16;

/** Different at every position of the first chunks. */
const contentOf = (size: number): Uint8Array => {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 1) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 255;
  return bytes;
};

async function encrypted(size: number) {
  const file = { name: 'a', type: 'b', size, salt: createFileSalt() };
  const cipher = createFileCipher(room.keys, file);
  const content = contentOf(size);
  return { file, cipher, content, body: await bytesOf(streamOf(content).pipeThrough(cipher.encrypt())) };
}

/** Sizes around the borders of up to three chunks. */
const anySize = fc.oneof(
  fc.nat(600),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -20, max: 20 }))
    .map(([count, more]) => count * chunk + more),
  fc.nat(4 * chunk),
);

const anyRange = (size: number): fc.Arbitrary<ByteRange> =>
  fc
    .tuple(fc.nat(size), fc.nat(size))
    .map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }));

const cut = (bytes: Uint8Array, { from, to }: ByteRange) => bytes.subarray(from, to);

describe('an encrypted file', () => {
  it('[CRYPT-7] has the size that its metadata implies, and decrypts to the same bytes', async () => {
    const isKept = fc.asyncProperty(anySize, fc.integer({ min: 1000, max: 200_000 }), async (size, pieceBytes) => {
      const { cipher, content, body } = await encrypted(size);
      assert.equal(body.length, cipher.ciphertextSize);
      assert.equal(body.length, fileLayout(size).ciphertextSize);
      assert.equal(Buffer.from(body.subarray(0, 8)).toString(), 'POPENC1\n');
      const decrypted = await bytesOf(streamOf(body, pieceBytes).pipeThrough(cipher.decrypt()));
      assert.ok(Buffer.from(decrypted).equals(content), `${size} bytes`);
    });
    const borders = [0, 1, 255, 256, 257, chunk - 1, chunk, chunk + 1, 2 * chunk];
    await fc.assert(isKept, { numRuns: 30, examples: borders.map((size) => [size, 70_000]) });
  });

  it('[CRYPT-7] hides its size by padding: at least 256 bytes, then Padmé', () => {
    const sizeOf = (size: number) => fileLayout(size).ciphertextSize;
    assert.deepEqual([0, 1, 200, 256].map(sizeOf), [280, 280, 280, 280]);
    assert.deepEqual([65_537, 67_584, 67_585].map(sizeOf), [67_624, 67_624, 69_672]);
    assert.equal(sizeOf(10 * 1024 * 1024), 8 + 160 * sealedChunk);
    assert.equal(sizeOf(2 ** 50), 8 + 2 ** 34 * sealedChunk);
    for (const size of [-1, 0.5, Number.NaN, 2 ** 50 + 1]) assert.throws(() => fileLayout(size), RangeError);
  });

  it('[CRYPT-7] is the same from Node’s cipher and from JavaScript', async () => {
    const key = room.keys.file;
    const [native, portable] = [createChunkCipher(key), portableCipher(key)];
    for (const place of [
      { index: 0, isLast: false },
      { index: 2 ** 33 + 5, isLast: true },
    ]) {
      const content = contentOf(1000);
      const sealed = await native.seal(place, content);
      assert.deepEqual(await portable.seal(place, content), sealed);
      for (const cipher of [native, portable]) {
        assert.deepEqual(await cipher.open(place, sealed), content);
        assert.equal(await cipher.open({ ...place, isLast: !place.isLast }, sealed), undefined, 'flipped flag');
        assert.equal(await cipher.open({ ...place, index: place.index + 1 }, sealed), undefined, 'another index');
        assert.equal(await cipher.open(place, sealed.subarray(1)), undefined);
        assert.equal(await cipher.open(place, sealed.subarray(0, 15)), undefined);
      }
    }
  });

  it('[CRYPT-7] does not decrypt if a byte is changed, or chunks are cut, swapped, repeated or added', async () => {
    const { cipher, body, content } = await encrypted(2 * chunk + 100);
    const chunkAt = (index: number) => body.subarray(8 + index * sealedChunk, 8 + (index + 1) * sealedChunk);
    const [head, first, second, last] = [body.subarray(0, 8), chunkAt(0), chunkAt(1), chunkAt(2)];
    const flipped = (at: number) => body.map((byte, index) => (index === at ? byte ^ 1 : byte));
    const damages: Record<string, Uint8Array> = {
      empty: new Uint8Array(0),
      'only the header': head,
      'a flipped bit in the header': flipped(7),
      'a flipped bit in the first chunk': flipped(8),
      'a flipped bit in a tag': flipped(8 + sealedChunk - 1),
      'a flipped bit in the last byte': flipped(body.length - 1),
      'the last chunk missing': body.subarray(0, 8 + 2 * sealedChunk),
      'the last byte missing': body.subarray(0, -1),
      'a byte added': Buffer.concat([body, new Uint8Array(1)]),
      'the last chunk twice': Buffer.concat([body, last]),
      'two chunks swapped': Buffer.concat([head, second, first, last]),
      'the first chunk missing': Buffer.concat([head, second, last]),
      'the second chunk missing': Buffer.concat([head, first, last]),
      'the header missing': body.subarray(8),
      plaintext: content,
    };
    for (const [name, damage] of Object.entries(damages)) {
      await rejectsWith('DATA_DAMAGED', bytesOf(streamOf(damage).pipeThrough(cipher.decrypt())), name);
    }
  });

  it('[CRYPT-7] never yields changed bytes: what comes before an error is correct', async () => {
    const { cipher, body, content } = await encrypted(3 * chunk);
    body[8 + 2 * sealedChunk] = (body[8 + 2 * sealedChunk] as number) ^ 1;
    const received: Uint8Array[] = [];
    const decrypting = streamOf(body)
      .pipeThrough(cipher.decrypt())
      .pipeTo(new WritableStream({ write: (bytes) => void received.push(bytes) }));
    await rejectsWith('DATA_DAMAGED', decrypting);
    assert.ok(Buffer.concat(received).equals(content.subarray(0, 2 * chunk)));
  });

  it('[CRYPT-7] with padding other than zeros does not decrypt', async () => {
    const { file, cipher } = await encrypted(chunk + 1);
    const longer = createFileCipher(room.keys, { ...file, size: chunk + 2 });
    assert.equal(longer.ciphertextSize, cipher.ciphertextSize);
    const body = await bytesOf(streamOf(contentOf(chunk + 2)).pipeThrough(longer.encrypt()));
    await rejectsWith('DATA_DAMAGED', bytesOf(streamOf(body).pipeThrough(cipher.decrypt())));
  });

  it('[CRYPT-7] needs exactly the bytes that were announced', async () => {
    const cipher = createFileCipher(room.keys, { size: chunk + 5, salt: createFileSalt() });
    for (const size of [0, chunk, chunk + 4, chunk + 6, 3 * chunk]) {
      await assert.rejects(bytesOf(streamOf(contentOf(size)).pipeThrough(cipher.encrypt())), { code: 'FILE_CHANGED' });
    }
  });

  it('[SEALED-91] never has two forms of the same chunk', async () => {
    const cipher = createFileCipher(room.keys, { size: 3 * chunk, salt: createFileSalt() });
    const before = contentOf(3 * chunk);
    const after = before.slice().fill(7, chunk + 9, chunk + 10);
    const encrypt = (bytes: Uint8Array, to = cipher.ciphertextSize) => {
      const { from, to: end } = cipher.plaintextFor({ from: 0, to });
      return bytesOf(streamOf(bytes.slice(from, end)).pipeThrough(cipher.encrypt({ from: 0, to })));
    };
    const start = await encrypt(before, 8 + 2 * (chunk + 16));
    assert.deepEqual((await encrypt(before)).subarray(0, start.length), start);
    await rejectsWith('FILE_CHANGED', encrypt(after));
    await rejectsWith('FILE_CHANGED', encrypt(after, 8 + chunk + 17));
    await encrypt(after, 8 + chunk + 16);
  });

  it('[CRYPT-7] is made only as fast as it is read, and a failure or a cancellation stops the source', async () => {
    const size = 2 ** 30 + 1;
    const cipher = createFileCipher(room.keys, { size, salt: createFileSalt() });
    let produced = 0;
    const reasons: unknown[] = [];
    const source = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          produced += chunk;
          controller.enqueue(new Uint8Array(chunk));
        },
        cancel: (reason) => void reasons.push(reason),
      });
    const reader = source().pipeThrough(cipher.encrypt()).getReader();
    await reader.read();
    await reader.read();
    assert.ok(produced <= 8 * chunk, `${produced} bytes`);
    await reader.cancel('enough');
    assert.ok(reasons.includes('enough'));
    await rejectsWith('DATA_DAMAGED', bytesOf(source().pipeThrough(cipher.decrypt())));
    assert.ok(reasons.at(-1) instanceof EncryptionError);
  });
});

describe('a range of an encrypted file', () => {
  it('[CRYPT-8] decrypts from the chunks that contain it', async () => {
    const sizes = [1, 300, chunk, chunk + 1, 3 * chunk - 1, 3 * chunk + 77];
    const files = await Promise.all(sizes.map(encrypted));
    const anyFileAndRange = fc
      .constantFrom(...files)
      .chain((one) => fc.tuple(fc.constant(one), anyRange(one.content.length)));
    const decrypts = fc.asyncProperty(anyFileAndRange, async ([{ cipher, content, body }, range]) => {
      const needed = cipher.ciphertextFor(range);
      const most = range.to - range.from + 2 * chunk + 16 * (2 + (range.to - range.from) / chunk);
      assert.ok(needed.to - needed.from <= most && needed.to <= body.length);
      const decrypted = await bytesOf(streamOf(cut(body, needed)).pipeThrough(cipher.decrypt(range)));
      assert.ok(Buffer.from(decrypted).equals(cut(content, range)), JSON.stringify(range));
    });
    await fc.assert(decrypts, { numRuns: 60 });
    const [, , , small] = files as [unknown, unknown, unknown, Awaited<ReturnType<typeof encrypted>>];
    assert.deepEqual(small.cipher.ciphertextFor({ from: chunk - 1, to: chunk }), { from: 8, to: 8 + sealedChunk });
    assert.deepEqual(small.cipher.ciphertextFor({ from: chunk, to: chunk + 1 }).from, 8 + sealedChunk);
  });

  it('[CRYPT-8] does not decrypt from other bytes', async () => {
    const { cipher, body } = await encrypted(3 * chunk);
    const range = { from: chunk + 10, to: chunk + 20 };
    const { from, to } = cipher.ciphertextFor(range);
    const wrong = [
      { from: from - sealedChunk, to: to - sealedChunk },
      { from: from + sealedChunk, to: to + sealedChunk },
      { from, to: to - 1 },
      { from, to: to + 1 },
      { from: from + 1, to },
      { from, to: from },
    ];
    for (const other of wrong) {
      await rejectsWith('DATA_DAMAGED', bytesOf(streamOf(cut(body, other)).pipeThrough(cipher.decrypt(range))));
    }
    for (const bad of [
      { from: -1, to: 5 },
      { from: 5, to: 4 },
      { from: 0, to: 3 * chunk + 1 },
      { from: 0.5, to: 1 },
    ]) {
      assert.throws(() => cipher.ciphertextFor(bad), RangeError);
    }
  });

  it('[CRYPT-8] is encrypted again for an upload that continues at any offset', async () => {
    const sizes = [0, 300, chunk, chunk + 1, 3 * chunk + 77];
    const files = await Promise.all(sizes.map(encrypted));
    const anyFileAndRange = fc
      .constantFrom(...files)
      .chain((one) => fc.tuple(fc.constant(one), anyRange(one.body.length)));
    const continues = fc.asyncProperty(anyFileAndRange, async ([{ file, content, body }, range]) => {
      // As another process would continue it: only with the metadata that was sealed at first.
      const cipher = createFileCipher(room.keys, openFileMetadata(room, sealFileMetadata(room, file)));
      const plaintext = cut(content, cipher.plaintextFor(range));
      const part = await bytesOf(streamOf(plaintext).pipeThrough(cipher.encrypt(range)));
      assert.ok(Buffer.from(part).equals(cut(body, range)), JSON.stringify(range));
    });
    await fc.assert(continues, { numRuns: 60 });
    for (const { cipher, body } of files) {
      const header = await bytesOf(streamOf(new Uint8Array(0)).pipeThrough(cipher.encrypt({ from: 3, to: 8 })));
      assert.ok(Buffer.from(header).equals(body.subarray(3, 8)));
    }
  });
});

describe('the metadata of an encrypted file', () => {
  it('[CRYPT-9] opens only the bytes that were encrypted with its salt', async () => {
    const [one, other] = [await encrypted(1000), await encrypted(1000)];
    assert.notDeepEqual(one.body, other.body);
    const decrypt = (keys: typeof room.keys, sealed: string, body: Uint8Array) => {
      const cipher = createFileCipher(keys, openFileMetadata(room, sealed));
      return bytesOf(streamOf(body).pipeThrough(cipher.decrypt()));
    };
    const sealed = sealFileMetadata(room, one.file);
    assert.ok(Buffer.from(await decrypt(room.keys, sealed, one.body)).equals(one.content));
    await rejectsWith('DATA_DAMAGED', decrypt(room.keys, sealed, other.body));
    await rejectsWith('DATA_DAMAGED', decrypt(otherKeys.keys, sealed, one.body));
    throwsWith('DATA_DAMAGED', () => openFileMetadata(otherKeys, sealed));
    const wrongSize = sealFileMetadata(room, { ...one.file, size: 3000 });
    await rejectsWith('DATA_DAMAGED', decrypt(room.keys, wrongSize, one.body));
    assert.throws(() => createFileCipher(room.keys, { size: 1, salt: new Uint8Array(31) }), RangeError);
  });
});
