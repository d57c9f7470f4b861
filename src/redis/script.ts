/** A script for Redis: sent whole once, named by its digest from then on. */
import { createHash } from 'node:crypto';

export interface Script {
  text: string;
  digest: string;
}

export const script = (text: string): Script => ({ text, digest: createHash('sha1').update(text).digest('hex') });
