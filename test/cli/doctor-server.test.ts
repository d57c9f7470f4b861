/** `poproom doctor` on a running server, directly or through misconfigured proxies. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startPortal } from '../client/portal.ts';
import { startBadProxy } from '../support/bad-proxy.ts';
import { embeddedSettings } from '../support/engine.ts';
import { apiKeysOf } from '../support/keys.ts';
import { startTestServer } from '../support/server.ts';
import { diagnose } from './diagnosis.ts';

const inForm = { POPROOM_METRICS: 'true' };

describe('poproom doctor on a server', () => {
  it('[CLI-8] finds no problems on a healthy server, and leaves no room behind', async (t) => {
    const server = await startTestServer(t, { ...inForm, POPROOM_TRUSTED_PROXIES: '' });
    const found = await diagnose(t, { PORT: String(server.port), POPROOM_HOST: '127.0.0.1' });
    found.says('server', 'ok', /is ready/);
    found.says('clock', 'ok', /agrees/);
    found.says('cache', 'ok', /not cached/);
    found.says('uploads', 'ok', /10 MiB can be uploaded/);
    found.says('links', 'ok', new RegExp(`Links point to ${server.url} and work`));
    found.says('live', 'ok', /works/);
    found.says('events', 'ok', /without buffering/);
    assert.equal(found.troubles, 0, found.text);
    assert.match((await server.api.get('/metrics')).text, /^poproom_rooms 0$/m);
  });

  it('[CLI-8] names the readiness check that fails', async (t) => {
    const server = await startTestServer(t, embeddedSettings);
    await rm(join(server.folder, 'files'), { recursive: true });
    const found = await diagnose(t, {}, ['--url', `${server.url}/`]);
    found.says('server', 'bad', /is not ready: .*files failing/);
  });

  it('[CLI-8] reports when nothing responds, or something that is not Poproom', async (t) => {
    const port = await startPortal(t, 200);
    const [nobody, own, other] = await Promise.all([
      diagnose(t, {}, ['--url', 'http://127.0.0.1:1']),
      diagnose(t, { PORT: '1' }),
      diagnose(t, { PORT: String(port) }),
    ]);
    nobody?.says('server', 'bad', /No response from http:\/\/127\.0\.0\.1:1/);
    own?.says('server', 'ok', /No server is running at http:\/\/localhost:1;/);
    other?.says('server', 'bad', /is not a Poproom server/);
  });

  it('[CLI-8] uses an API key where one is required, and says so if it has none', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const key = await apiKeysOf(t, server).make('doctor', 'pro');
    const [without, withKey] = await Promise.all([
      diagnose(t, {}, ['--url', server.url]),
      diagnose(t, { POPROOM_API_KEY: key }, ['--url', server.url]),
    ]);
    assert.match(without?.says('server', 'warning', /Cannot create a room/) ?? '', /POPROOM_API_KEY/);
    withKey?.says('live', 'ok', /works/);
    assert.ok(!withKey?.text.includes(key));
  });
});

describe('poproom doctor on a proxy', { concurrency: true }, () => {
  it('[CLI-8] finds what the proxy breaks: links, live channels, files, caching, the clock', async (t) => {
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
    const [found, misled] = await Promise.all([diagnose(t, {}, ['--url', url]), diagnose(t, {}, ['--url', limited])]);
    found?.says('live', 'bad', /is blocked/);
    found?.says('uploads', 'bad', /10 MiB cannot be uploaded/);
    found?.says('cache', 'bad', /caches API responses/);
    found?.says('clock', 'warning', /the server is (5|6)\d seconds ahead/);
    const fix = misled?.says('links', 'bad', new RegExp(`Links point to ${server.url}, but clients use ${limited}`));
    assert.match(fix ?? '', new RegExp(`Set POPROOM_PUBLIC_URL=${limited}`));
  });

  it('[CLI-8] reports events that are buffered', async (t) => {
    const server = await startTestServer(t);
    const url = await startBadProxy(t, server.port, { buffersResponses: true });
    (await diagnose(t, {}, ['--url', url])).says('events', 'warning', /do not arrive, or are buffered/);
  });

  it('[CLI-8] reports an untrusted proxy, one that trusts every client, and public metrics', async (t) => {
    const server = await startTestServer(t, inForm);
    const url = await startBadProxy(t, server.port, { addsVia: true });
    const args = ['--url', url];
    const here = { POPROOM_TRUSTED_PROXIES: '127.0.0.1', POPROOM_PUBLIC_URL: url };
    const untrusted = await startTestServer(t, { POPROOM_TRUSTED_PROXIES: '' });
    const unknown = await startBadProxy(t, untrusted.port, { addsVia: true });
    const [believing, trusting, sharing] = await Promise.all([
      diagnose(t, {}, args),
      diagnose(t, here, args),
      diagnose(t, {}, ['--url', unknown]),
    ]);
    believing?.says('proxy', 'bad', /accepts any X-Forwarded-For/);
    believing?.says('server', 'warning', /Anyone can read .*\/metrics/);
    trusting?.says('proxy', 'ok', /POPROOM_TRUSTED_PROXIES is set/);
    assert.match(sharing?.says('proxy', 'bad', /share one limit/) ?? '', /POPROOM_TRUSTED_PROXIES/);
  });
});
