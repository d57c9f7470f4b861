/** Creates and revokes API keys in the store of a running server, as the command line does. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { drawApiKey } from '../../src/core/clients.ts';
import type { Tier } from '../../src/core/ports/clients.ts';
import { openKeys } from '../../src/engine/open.ts';
import type { TestServer } from './server.ts';

export function apiKeysOf(t: TestContext, { settings, clock }: TestServer) {
  const opened = openKeys(readConfig(settings));
  t.after(async () => (await opened).close());
  return {
    /** Creates a key and returns its text. */
    async make(name: string, tier: Tier): Promise<string> {
      const { id, text, hash } = drawApiKey();
      assert.ok(await (await opened).create({ id, name, tier, hash }, clock.now));
      return text;
    },
    revoke: async (name: string) => (await opened).revoke(name, clock.now),
  };
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
