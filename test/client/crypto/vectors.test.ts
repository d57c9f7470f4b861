/** The test vectors in Node, and in a browser on a secure page and on a plain HTTP page, which has no `crypto.subtle`. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { launchBrowser } from '../../support/browser.ts';
import { listenOnFreePort } from '../../support/listen.ts';
import { computeVectors } from './compute-vectors.ts';
import vectors from './vectors.json' with { type: 'json' };

describe('the test vectors of encryption', () => {
  it('[CRYPT-10] are computed in Node', async () => {
    assert.deepEqual(await computeVectors(vectors), vectors);
  });

  it('[slow] [CRYPT-10] are computed in a browser, with and without a secure context', async (t) => {
    const url = await listenOnFreePort(
      t,
      createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<title>Vectors</title>')),
    );
    const browser = await launchBrowser(['--host-resolver-rules=MAP poproom.test 127.0.0.1']);
    t.after(() => browser.close());
    const page = await browser.newPage();
    const script = await scriptOf('compute-vectors.ts');
    const contexts = { [url]: true, [url.replace('127.0.0.1', 'poproom.test')]: false };
    for (const [address, isSecure] of Object.entries(contexts)) {
      await page.goto(address);
      assert.deepEqual(await page.evaluate(() => [isSecureContext, 'subtle' in crypto]), [isSecure, isSecure]);
      assert.deepEqual(await page.evaluate(`${script}; test.computeVectors(${JSON.stringify(vectors)})`), vectors);
    }
    const timers = await page.evaluate(`${script}; test.timersWhileDeriving(${JSON.stringify(vectors)})`);
    assert.ok((timers as number) >= 3, `the page is not frozen: ${timers} timers`);
  });

  /** The exports of a module as `test`. */
  async function scriptOf(file: string): Promise<string> {
    const input = fileURLToPath(new URL(file, import.meta.url));
    const { output } = await build({ input, write: false, logLevel: 'warn', output: { format: 'iife', name: 'test' } });
    return output[0].code;
  }

  it('[CRYPT-10] are those of the documentation', async () => {
    const guide = await readFile(new URL('../../../docs/encryption.md', import.meta.url), 'utf8');
    const { keys, envelopes, files, nonce: _nonce, ...rest } = vectors;
    const values = [...Object.values(rest), ...Object.values(keys), ...envelopes.map(({ tag }) => tag)];
    for (const value of [...values, ...files.map(({ sha256 }) => sha256)])
      assert.ok(guide.includes(`\`${value}\``), value);
  });
});
