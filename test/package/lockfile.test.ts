/** All dependencies are pinned by their content. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

interface Locked {
  integrity?: string;
  resolved?: string;
}

const root = new URL('../../', import.meta.url);

describe('the lockfile', () => {
  it('[PACK-7] has the hash of every package and no download URL', () => {
    for (const name of ['package-lock.json', 'test/package/openapi-typescript/package-lock.json']) {
      const { packages } = JSON.parse(readFileSync(new URL(name, root), 'utf8')) as {
        packages: Record<string, Locked>;
      };
      const locked = Object.entries(packages).filter(([path]) => path !== '');
      assert.ok(locked.length > 20);
      for (const [path, { integrity, resolved }] of locked) {
        assert.equal(resolved, undefined, path);
        assert.match(integrity ?? '', /^sha512-[+/0-9A-Za-z]{86}==$/, path);
      }
    }
  });
});

describe('the workflows', () => {
  it('[PACK-7] name each action by its commit', () => {
    const folder = new URL('.github/workflows/', root);
    const uses = readdirSync(folder).flatMap((name) => [
      ...readFileSync(new URL(name, folder), 'utf8').matchAll(/^\s*-? *uses: *(.*)$/gm),
    ]);
    assert.ok(uses.length > 5);
    for (const [, action = ''] of uses) assert.match(action, /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$/);
  });
});
