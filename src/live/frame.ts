/** Messages as WebSocket frames (RFC 6455, section 5.2). Servers do not mask, so all devices get the same bytes. */
import type { Outgoing } from './wire.ts';

const frame = Symbol('encoded frame');

/** Encodes a message once for all sockets. `ws` would encode it for each of them. */
export function frameOf(message: Outgoing & { [frame]?: readonly Uint8Array[] }): readonly Uint8Array[] {
  message[frame] ??= encode(message);
  return message[frame];
}

const finalText = 0x81;

function encode({ text, bytes, longText }: Outgoing): Uint8Array[] {
  if (!longText) return [encodeFirst(text, bytes, bytes)];
  const { json, at } = longText;
  const [before, after] = [text.slice(0, at), Buffer.from(text.slice(at))];
  return [encodeFirst(before, bytes - json.byteLength - after.byteLength, bytes), json, after];
}

/** The frame header and the first part of the payload. */
function encodeFirst(text: string, textBytes: number, bytes: number): Buffer {
  const headBytes = bytes < 126 ? 2 : bytes < 65_536 ? 4 : 10;
  // Not from the pool: a heartbeat is kept for long, and would keep its whole pool in memory.
  const encoded = Buffer.allocUnsafeSlow(headBytes + textBytes);
  encoded[0] = finalText;
  encoded[1] = headBytes === 2 ? bytes : headBytes === 4 ? 126 : 127;
  if (headBytes === 4) encoded.writeUInt16BE(bytes, 2);
  if (headBytes === 10) encoded.writeBigUInt64BE(BigInt(bytes), 2);
  encoded.write(text, headBytes);
  return encoded;
}
