/** `poproom doctor` on a running server, directly or through misconfigured proxies. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startCaptivePortal } from '../client/captive-portal.ts';
import { startBadProxy } from '../support/bad-proxy.ts';
import { embeddedSettings } from '../support/engine.ts';
import { apiKeysOf } from '../support/keys.ts';
import { startTestServer } from '../support/server.ts';
import { runDoctor } from './run-doctor.ts';

const inForm = { POPROOM_METRICS: 'true' };

describe('poproom doctor on a server', () => {
  it('[CLI-8] finds no problems on a healthy server, and leaves no room behind', async (t) => {
    const server = await startTestServer(t, { ...inForm, POPROOM_TRUSTED_PROXIES: '' });
    const found = await runDoctor(t, { PORT: String(server.port), POPROOM_HOST: '127.0.0.1' });
    found.assertFinding('server', 'ok', /is ready/);
    found.assertFinding('clock', 'ok', /agrees/);
    found.assertFinding('cache', 'ok', /not cached/);
    found.assertFinding('uploads', 'ok', /10 MiB can be uploaded/);
    found.assertFinding('links', 'ok', new RegExp(`Links point to ${server.url} and work`));
    found.assertFinding('live', 'ok', /works/);
    found.assertFinding('events', 'ok', /without buffering/);
    assert.equal(found.problemCount, 0, found.text);
    assert.match((await server.api.get('/metrics')).text, /^poproom_rooms 0$/m);
  });

  it('[slow] [CLI-8] names the readiness check that fails', async (t) => {
    const server = await startTestServer(t, embeddedSettings);
    await rm(join(server.folder, 'files'), { recursive: true });
    const found = await runDoctor(t, {}, ['--url', `${server.url}/`]);
    found.assertFinding('server', 'bad', /is not ready: .*files failing/);
  });

  it('[CLI-8] [CLI-33] reports when nothing responds, or something that is not Poproom', async (t) => {
    const port = await startCaptivePortal(t, 200);
    const [nobody, own, other] = await Promise.all([
      runDoctor(t, {}, ['--url', 'http://127.0.0.1:1']),
      runDoctor(t, { PORT: '1' }),
      runDoctor(t, { PORT: String(port) }),
    ]);
    nobody?.assertFinding('server', 'bad', /No response from http:\/\/127\.0\.0\.1:1/);
    own?.assertFinding('server', 'warning', /No server is running at http:\/\/localhost:1\./);
    // The settings of the caller are not those of the server.
    for (const check of ['settings', 'rooms', 'files', 'disk']) {
      assert.ok(!nobody?.findings.some((finding) => finding.check === check), check);
    }
    other?.assertFinding('server', 'bad', /is not a Poproom server/);
  });

  it('[slow] [CLI-8] uses an API key where one is required, and says so if it has none', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const key = await apiKeysOf(t, server).make('doctor', 'pro');
    const [without, withKey] = await Promise.all([
      runDoctor(t, {}, ['--url', server.url]),
      runDoctor(t, { POPROOM_API_KEY: key }, ['--url', server.url]),
    ]);
    assert.match(without?.assertFinding('server', 'warning', /Cannot create a room/) ?? '', /POPROOM_API_KEY/);
    withKey?.assertFinding('live', 'ok', /works/);
    assert.ok(!withKey?.text.includes(key));
  });
});

describe('poproom doctor on a proxy', { concurrency: true }, () => {
  it('[slow] [CLI-8] finds what the proxy breaks: links, live channels, files, caching, the clock', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const faults = {
      rewritesHost: true,
      blocksUpgrade: true,
      cachesResponses: true,
      maxBytes: 1_000_000,
      clockSkewMs: 60_000,
    };
    const url = await startBadProxy(t, server.port, faults);
    const limited = await startBadProxy(t, server.port, { rewritesHost: true });
    const [found, misled] = await Promise.all([runDoctor(t, {}, ['--url', url]), runDoctor(t, {}, ['--url', limited])]);
    found?.assertFinding('live', 'bad', /is blocked/);
    const uploadFix = found?.assertFinding('uploads', 'bad', /10 MiB cannot be uploaded/) ?? '';
    assert.match(uploadFix, /Allow bodies of 11 MB .*client_max_body_size 11m$/);
    found?.assertFinding('cache', 'bad', /caches API responses/);
    found?.assertFinding('clock', 'warning', /the server is (5|6)\d seconds ahead/);
    const fix = misled?.assertFinding(
      'links',
      'bad',
      new RegExp(`Links point to ${server.url}, but clients use ${limited}`),
    );
    assert.match(fix ?? '', new RegExp(`Set POPROOM_PUBLIC_URL=${limited}`));
  });

  it('[slow] [CLI-8] tests uploads with the limit of the server, and names the size that the proxy must allow', async (t) => {
    const [small, large] = [
      await startTestServer(t, { POPROOM_FILE_MAX: '3MiB' }),
      await startTestServer(t, { POPROOM_FILE_MAX: '2GiB', POPROOM_ROOM_MAX_BYTES: '4GiB' }),
    ];
    const proxied = await startBadProxy(t, large.port, { maxBytes: 9 * 1024 ** 2 });
    (await runDoctor(t, {}, ['--url', small.url])).assertFinding('uploads', 'ok', /^Files of 3 MiB can be uploaded\.$/);
    const fix = (await runDoctor(t, {}, ['--url', proxied])).assertFinding(
      'uploads',
      'bad',
      /10 MiB cannot be uploaded/,
    );
    assert.match(fix, /Allow bodies of 2049 MB .*client_max_body_size 2049m$/);
  });

  it('[slow] [CLI-8] reports events that are buffered', async (t) => {
    const server = await startTestServer(t);
    const url = await startBadProxy(t, server.port, { buffersResponses: true });
    (await runDoctor(t, {}, ['--url', url])).assertFinding('events', 'warning', /do not arrive, or are buffered/);
  });

  it('[slow] [CLI-8] reports an untrusted proxy, one that trusts every client, and public metrics', async (t) => {
    const server = await startTestServer(t, inForm);
    const url = await startBadProxy(t, server.port, { addsVia: true });
    const args = ['--url', url];
    const here = { POPROOM_TRUSTED_PROXIES: '127.0.0.1', POPROOM_PUBLIC_URL: url };
    const untrusted = await startTestServer(t, { POPROOM_TRUSTED_PROXIES: '' });
    const unknown = await startBadProxy(t, untrusted.port, { addsVia: true });
    const [believing, trusting, sharing, remote] = await Promise.all([
      runDoctor(t, {}, args),
      runDoctor(t, here),
      runDoctor(t, { POPROOM_PUBLIC_URL: unknown }),
      runDoctor(t, here, ['--url', unknown]),
    ]);
    believing?.assertFinding('proxy', 'bad', /accepts any X-Forwarded-For/);
    believing?.assertFinding('server', 'warning', /Anyone can read .*\/metrics/);
    trusting?.assertFinding('proxy', 'ok', /POPROOM_TRUSTED_PROXIES is set/);
    remote?.assertFinding('proxy', 'ok', /There is a proxy\. On the server/);
    assert.match(sharing?.assertFinding('proxy', 'bad', /share one limit/) ?? '', /POPROOM_TRUSTED_PROXIES/);
  });
});
