/** The hosts and addresses that webhooks may use. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { findHost, isPermitted, parseWebhookHosts, reachOf } from '../../src/webhooks/hosts.ts';
import { createWebhookSender } from '../../src/webhooks/sender.ts';
import { listenOnFreePort } from '../support/listen.ts';

describe('the hosts of webhooks', () => {
  it('[HOOK-8] are exact names, names below one, or addresses, with the usual port or the named one', () => {
    const hosts = parseWebhookHosts('ntfy.sh, *.Example.org hooks.test:8443,192.168.1.5 [fd00::1]:81');
    const isAllowed = (url: string) => findHost(hosts, new URL(url)) !== undefined;
    const allowed = [
      ...['https://ntfy.sh/x', 'http://ntfy.sh./x', 'https://NTFY.SH:443/', 'https://a.b.example.org/'],
      ...['https://hooks.test:8443/', 'http://hooks.test:8443/', 'http://192.168.1.5/', 'http://[fd00:0::1]:81/'],
    ];
    for (const url of allowed) assert.ok(isAllowed(url), url);
    const refused = [
      ...['https://ntfy.sh:8443/', 'https://x.ntfy.sh/', 'https://ntfy.sh.evil.test/', 'https://example.org/'],
      ...['https://evilexample.org/', 'https://hooks.test/', 'http://192.168.1.5:8080/', 'http://[fd00::1]/'],
      ...['http://127.0.0.1/', 'http://192.168.1.50/'],
    ];
    for (const url of refused) assert.ok(!isAllowed(url), url);
    for (const wrong of ['http://x', 'a/b', '*', '*.10.0.0.1', 'a:0', 'a:70000', 'private:*.a.org', 'a@b', '**.a'])
      assert.throws(() => parseWebhookHosts(wrong), /must be a list of hosts/, wrong);
  });

  it('[HOOK-8] are not reached at private and special addresses, unless they are named so', () => {
    const [named, lan, literal] = parseWebhookHosts('hooks.test private:lan.test 169.254.169.254');
    assert.ok(named && lan && literal);
    const privateOnes = [
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '127.0.0.1',
      '100.64.0.1',
      '::1',
      'fc00::1',
      'fdff::1',
    ];
    const mapped = ['::ffff:127.0.0.1', '::ffff:a00:1', '64:ff9b::192.168.1.1', '::10.0.0.1', '2002:a00:1::1'];
    const special = [
      ...['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fe80::1', 'fd00:ec2::254', '192.0.2.1', '198.18.0.1'],
      ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '2001:db8::1', '2001::1', 'fec0::1', '1::1'],
    ];
    const nowhere = ['0.0.0.0', '0.1.2.3', '224.0.0.1', '255.255.255.255', '::', 'ff02::1', '::ffff:0.0.0.0', 'x', ''];
    for (const address of [...privateOnes, ...mapped]) {
      assert.equal(reachOf(address), 'private', address);
      assert.deepEqual([isPermitted(named, address), isPermitted(lan, address)], [false, true], address);
    }
    for (const address of [...special, ...nowhere])
      assert.deepEqual([isPermitted(named, address), isPermitted(lan, address)], [false, false], address);
    for (const address of ['93.184.216.34', '2606:2800:220:1::1', '::ffff:8.8.8.8'])
      assert.ok(isPermitted(named, address), address);
    assert.ok(isPermitted(literal, '169.254.169.254'));
  });

  it('[HOOK-8] are looked up once: the connection uses the address that was checked', async (t) => {
    let hits = 0;
    const server = createServer((_, response) => {
      hits += 1;
      response.end('x'.repeat(100_000));
    });
    const { port } = new URL(await listenOnFreePort(t, server));
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    let lookups = 0;
    const resolve = async () => (answers[lookups++] ?? []).map((address) => ({ address, family: 4 }));
    const request = { url: `http://rebound.test:${port}/`, headers: {}, body: '{}' };
    // The name leads to a public address first, where nothing listens, and then to this machine.
    const strict = createWebhookSender(parseWebhookHosts(`rebound.test:${port}`), { resolve, timeoutMs: 300 });
    assert.equal((await strict.send(request)).outcome, 'failed');
    assert.deepEqual(await strict.send(request), {
      outcome: 'failed',
      problem: {
        code: 'PRIVATE_ADDRESS',
        message: 'The host has a private address, which the server does not allow.',
      },
    });
    assert.deepEqual([lookups, hits], [2, 0]);
    lookups = 1;
    const lenient = createWebhookSender(parseWebhookHosts(`private:rebound.test:${port}`), { resolve });
    assert.deepEqual(await lenient.send(request), { outcome: 'delivered' });
    assert.deepEqual([lookups, hits], [2, 1]);
  });

  it('[HOOK-9] [HOOK-13] have a few seconds to respond, and run a few requests at a time', async (t) => {
    const server = createServer(() => undefined);
    const url = await listenOnFreePort(t, server);
    const { host } = new URL(url);
    const sender = createWebhookSender(parseWebhookHosts(host), { timeoutMs: 300 });
    const send = () => sender.send({ url, headers: {}, body: '{}' });
    const outcomes = await Promise.all([send(), send(), send(), send(), send()]);
    const problem = { code: 'TIMEOUT', message: 'The host did not respond within 0.3 seconds.' };
    const silent = { outcome: 'failed', problem };
    assert.deepEqual(outcomes, [silent, silent, silent, silent, { outcome: 'busy' }]);
  });
});
