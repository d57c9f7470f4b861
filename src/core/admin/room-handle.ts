/** Names rooms to operators without their codes. Every node can read a handle, and no store keeps it. */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { parseRoomCode, type RoomCode } from '../../protocol/room-code.ts';

export interface RoomHandles {
  handleOf(code: RoomCode): string;
  /** Undefined if it is not a handle of this server. */
  codeOf(handle: string): RoomCode | undefined;
}

const algorithm = 'aes-256-gcm';
/** Base64url may begin with `-`, which a command line takes for an option. */
const prefix = 'r';
const ivBytes = 12;
const tagBytes = 16;

/** The same code always has the same handle: the IV is a hash of the code. */
export function createRoomHandles(secret: string): RoomHandles {
  const derive = (purpose: string) => createHmac('sha256', secret).update(`admin room ${purpose}`).digest();
  const [key, ivKey] = [derive('key'), derive('iv')];

  return {
    handleOf(code) {
      const iv = createHmac('sha256', ivKey).update(code).digest().subarray(0, ivBytes);
      const cipher = createCipheriv(algorithm, key, iv);
      const bytes = Buffer.concat([iv, cipher.update(code), cipher.final(), cipher.getAuthTag()]);
      return prefix + bytes.toString('base64url');
    },

    codeOf(handle) {
      if (!handle.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(handle.slice(prefix.length), 'base64url');
      if (bytes.length <= ivBytes + tagBytes) return undefined;
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      try {
        const code = decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
        return parseRoomCode(code);
      } catch {
        return undefined;
      }
    },
  };
}

/** Masked, because anyone with the code can read the room. */
export const maskCode = (code: RoomCode): string => `${code.slice(0, 2)}${'*'.repeat(code.length - 2)}`;
