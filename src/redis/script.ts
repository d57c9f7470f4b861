/** A Lua script. It is sent in full once, and referenced by its digest afterwards. */
import { createHash } from 'node:crypto';

export interface Script {
  text: string;
  digest: string;
}

export const script = (text: string): Script => ({ text, digest: createHash('sha1').update(text).digest('hex') });
