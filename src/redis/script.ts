/** A Lua script. It is sent in full once, and referenced by its digest afterwards. */
import { createHash } from 'node:crypto';

export interface Script {
  text: string;
  digest: string;
  /** The same without flags, which Redis knows since version 7. */
  withoutFlags?: Script;
}

export const script = (text: string): Script => ({ text, digest: createHash('sha1').update(text).digest('hex') });

/**
 * Runs even if the memory of Redis is full. For scripts that free memory, and for those that requests need to read: they
 * count requests and wrong PINs, and list devices.
 */
export const scriptWhenFull = (text: string): Script => ({
  ...script(`#!lua flags=allow-oom\n${text}`),
  withoutFlags: script(text),
});
