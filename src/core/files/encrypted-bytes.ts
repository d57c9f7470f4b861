/** Refuses files in encrypted rooms whose first bytes are not those of an encrypted file. */
import { type Readable, Transform } from 'node:stream';
import { encryptedFileHeader } from '../../protocol/sealed.ts';
import { encryptionRequired } from '../sealed.ts';

const header = Buffer.from(encryptedFileHeader);
export const headerBytes = header.length;

/**
 * The bytes of an upload from an offset on. They are held back until the whole header has arrived, so that nothing of a
 * plain file is stored. A part of a resumable upload may end within the header.
 */
export function encryptedBytes(bytes: Readable, offset = 0, mayEndWithinHeader = false): Readable {
  const expected = header.subarray(offset);
  let held = Buffer.alloc(0);
  // Not the length of what was held: the blob store frees buffers that it has stored.
  let hasPassed = expected.length === 0;
  const matches = () => expected.subarray(0, held.length).equals(held.subarray(0, expected.length));
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (hasPassed) return done(null, chunk);
      held = Buffer.concat([held, chunk]);
      if (!matches()) return done(notEncryptedFile());
      hasPassed = held.length >= expected.length;
      done(null, hasPassed ? held : undefined);
    },
    flush(done) {
      if (hasPassed) return done();
      done(mayEndWithinHeader ? null : notEncryptedFile(), held);
    },
  });
  const end = (error?: Error) => checked.destroy(error ?? new Error('The stream ended early.'));
  bytes.once('error', end).once('close', () => bytes.readableEnded || end());
  // It may fail before the blob store listens, which then finds it destroyed.
  return bytes.pipe(checked).on('error', () => undefined);
}

export const notEncryptedFile = () =>
  encryptionRequired('The file must be encrypted: its first bytes are "POPENC1" and a line feed.', 'file');
