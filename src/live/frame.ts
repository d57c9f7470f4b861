/** Messages as WebSocket frames (RFC 6455, section 5.2). A server does not mask them, so all devices get the same bytes. */
import type { Outgoing } from './wire.ts';

const frame = Symbol('the message as a frame');

/** Made once for all sockets: `ws` would make a header, and encode the text, for each of them. */
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

/** The head of the frame and the first of its bytes. */
function encodeFirst(text: string, textBytes: number, bytes: number): Buffer {
  const headBytes = bytes < 126 ? 2 : bytes < 65_536 ? 4 : 10;
  // Memory of its own: a heartbeat is kept for long, and would keep the whole pool that it is a part of.
  const encoded = Buffer.allocUnsafeSlow(headBytes + textBytes);
  encoded[0] = finalText;
  encoded[1] = headBytes === 2 ? bytes : headBytes === 4 ? 126 : 127;
  if (headBytes === 4) encoded.writeUInt16BE(bytes, 2);
  if (headBytes === 10) encoded.writeBigUInt64BE(BigInt(bytes), 2);
  encoded.write(text, headBytes);
  return encoded;
}
