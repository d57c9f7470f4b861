/** examples/share-secret.sh, with the real command and a real server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCli } from '../support/cli.ts';
import { startTestServer } from '../support/server.ts';

const script = fileURLToPath(new URL('../../examples/share-secret.sh', import.meta.url));

describe('the script that shares a secret', () => {
  it('[DOCS-5] puts it into an encrypted room, from which it can be fetched once', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const [mine, theirs] = [await createCli(t), await createCli(t)];
    const env = { POPROOM_URL: server.url };
    const shared = await mine.shell(`echo 'open sesame' | "${script}"`, { env }).result;
    assert.equal(shared.code, 0, shared.stderr);
    const [, code = '', key = ''] =
      /^code (\w+)\nkey {2}([\w-]{19})\n$/.exec(shared.stdout) ?? assert.fail(shared.stdout);
    const fetchSecret = () =>
      theirs.run(['fetch', code, 'secret.txt', '-o', '-'], { env: { ...env, POPROOM_ROOM_KEY: key } });
    assert.equal((await fetchSecret()).stdout, 'open sesame\n');
    assert.equal((await fetchSecret()).code, 3);
  });
});
