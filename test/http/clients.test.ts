/** Which client a request counts against. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../src/config.ts';
import { clientAddress, clientOf } from '../../src/http/request/request.ts';
import { anyText } from '../contract/any-text.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('an address', () => {
  it('[CLIENT-1] counts as itself if it is IPv4, in every notation', () => {
    const clothes = ['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:192.0.2.1'];
    for (const address of ['192.0.2.1', ...clothes, '0:0:0:0:0:FFFF:C000:0201']) {
      assert.equal(counted({ peer: address }), '192.0.2.1', address);
      assert.equal(clientOf(address), '192.0.2.1', address);
      assert.equal(counted({ peer: '10.0.0.1', forwarded: address }), '192.0.2.1', address);
    }
  });

  it('[CLIENT-1] counts by its /64 if it is IPv6, in every notation', () => {
    const sameNet = ['2001:db8:0:7::1', '2001:DB8:0:7:ffff:ffff:ffff:ffff', '2001:0db8:0000:0007:0000:0000:0000:0001'];
    for (const address of [...sameNet, '2001:db8:0:7:1:2:192.0.2.1', '2001:db8:0:7::%eth0']) {
      assert.equal(counted({ peer: address }), '2001:db8:0:7::/64', address);
    }
    for (const address of ['2001:db8:0:8::1', '2001:db8::1', '::1', '::', '2001:db8:7::1']) {
      assert.notEqual(counted({ peer: address }), '2001:db8:0:7::/64', address);
    }
    assert.equal(counted({ peer: '::1:2:3:4:5:192.0.2.1' }), '0:1:2:3::/64');
    assert.equal(counted({ peer: '::ffff:1234' }), '0:0:0:0::/64');
    assert.equal(counted({ peer: 'fe80::1%eth0' }), 'fe80:0:0:0::/64');
  });

  it('[CLIENT-1] counts the same in all notations', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (parts) => {
        const plain = parts.map((part) => part.toString(16)).join(':');
        const padded = parts.map((part) => part.toString(16).padStart(4, '0').toUpperCase()).join(':');
        const shortened = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
        assert.equal(counted({ peer: padded }), counted({ peer: plain }));
        assert.equal(counted({ peer: shortened }), counted({ peer: plain }));
      }),
    );
  });
});

describe('X-Forwarded-For', () => {
  it('[CLIENT-2] is not trusted from a peer that is not a trusted proxy', () => {
    assert.equal(counted({ peer: '192.0.2.1', forwarded: '198.51.100.1' }), '192.0.2.1');
    assert.equal(counted({ peer: '10.0.0.1', forwarded: '198.51.100.1', proxies: '' }), '10.0.0.1');
    assert.equal(counted({ peer: '::1', forwarded: '198.51.100.1' }), '0:0:0:0::/64');
  });

  it('[CLIENT-2] counts with its rightmost address that is not a trusted proxy', () => {
    const chains: Record<string, string> = {
      '198.51.100.1': '198.51.100.1',
      '198.51.100.9, 198.51.100.1': '198.51.100.1',
      '198.51.100.1, 10.0.0.7': '198.51.100.1',
      '198.51.100.9,198.51.100.1,10.0.0.8 ,  10.0.0.7': '198.51.100.1',
      '10.0.0.9, 198.51.100.1, 10.0.0.7': '198.51.100.1',
      '10.0.0.9, 10.0.0.8': '10.0.0.9',
      '2001:db8:0:7::1, fd00::5': '2001:db8:0:7::/64',
      '::ffff:198.51.100.1, ::ffff:10.0.0.7': '198.51.100.1',
    };
    for (const [forwarded, client] of Object.entries(chains)) {
      assert.equal(counted({ peer: '10.0.0.1', forwarded }), client, forwarded);
      assert.equal(counted({ peer: '::ffff:10.0.0.1', forwarded }), client, forwarded);
      assert.equal(counted({ peer: 'fd00::1', forwarded }), client, forwarded);
    }
  });

  it('[CLIENT-2] may have ports and brackets', () => {
    const spellings: Record<string, string> = {
      '198.51.100.1:1234': '198.51.100.1',
      '[2001:db8:0:7::1]': '2001:db8:0:7::/64',
      '[2001:db8:0:7::1]:443': '2001:db8:0:7::/64',
      '[::ffff:198.51.100.1]:443': '198.51.100.1',
      '2001:db8:0:7::1': '2001:db8:0:7::/64',
    };
    for (const [forwarded, client] of Object.entries(spellings)) {
      assert.equal(counted({ peer: '10.0.0.1', forwarded }), client, forwarded);
    }
  });

  it('[CLIENT-2] is read only as far as it is valid', () => {
    for (const garbage of [
      '',
      ',',
      'unknown',
      '_hidden',
      '198.51.100',
      '198.51.100.256',
      '1.2.3.4:x',
      '[::1',
      '"1.2.3.4"',
    ]) {
      assert.equal(counted({ peer: '10.0.0.1', forwarded: garbage }), '10.0.0.1', garbage);
      assert.equal(counted({ peer: '10.0.0.1', forwarded: `198.51.100.1, ${garbage}` }), '10.0.0.1', garbage);
      assert.equal(counted({ peer: '10.0.0.1', forwarded: `${garbage}, 198.51.100.1` }), '198.51.100.1', garbage);
      assert.equal(counted({ peer: '10.0.0.1', forwarded: `${garbage}, 10.0.0.2` }), '10.0.0.2', garbage);
    }
  });

  it('[CLIENT-2] never causes a failure, and never lets a client choose its identity', () => {
    const isTheOneTheProxySaw = fc.property(anyText(60), (text) => {
      assert.equal(counted({ peer: '10.0.0.1', forwarded: `${text}, 198.51.100.1` }), '198.51.100.1');
      assert.match(counted({ peer: '10.0.0.1', forwarded: text }), /^[0-9a-f.:]+(\/64)?$/);
    });
    fc.assert(isTheOneTheProxySaw, { numRuns: 500 });
  });

  it('[CLIENT-2] is ignored if the peer is unknown because it has disconnected', () => {
    assert.equal(counted({ peer: undefined, forwarded: '198.51.100.1' }), '');
  });
});

describe('a client of a running server', () => {
  it('[CLIENT-1] has a limit of its own, by address', async (t) => {
    const { api } = await startTestServer(t);
    const remaining = (from: string) => remainingOf(api, { from });
    assert.equal(await remaining('192.0.2.1'), 99);
    assert.equal(await remaining('::ffff:192.0.2.1'), 98);
    assert.equal(await remaining('192.0.2.2'), 99);
    assert.equal(await remaining('2001:db8::1'), 99);
    assert.equal(await remaining('2001:db8::ffff:1'), 98);
    assert.equal(await remaining('2001:db8:0:1::1'), 99);
  });

  it('[CLIENT-2] cannot change its identity with a forged header if no proxy is trusted', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_TRUSTED_PROXIES: '' });
    for (let n = 0; n < 5; n++) assert.equal(await remainingOf(api, { from: `192.0.2.${n}` }), 99 - n);
  });

  it('[CLIENT-2] is the one that its proxies saw, even if it sends a forged header', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' });
    assert.equal(await remainingOf(api, { from: '192.0.2.1' }), 99);
    assert.equal(await remainingOf(api, { from: '203.0.113.5, 192.0.2.1, 10.1.2.3' }), 98);
    assert.equal(await remainingOf(api, { from: '203.0.113.6, 192.0.2.1' }), 97);
    assert.equal(await remainingOf(api, { from: '203.0.113.5' }), 99);
  });

  it('[CLIENT-2] is determined from all headers of that name together', async (t) => {
    const { api, port } = await startTestServer(t);
    await remainingOf(api, { from: '192.0.2.1' });
    const twice = ['X-Forwarded-For: 203.0.113.5', 'X-Forwarded-For: 192.0.2.1'];
    const response = await requestRaw(
      t,
      port,
      requestLines('GET /api/health HTTP/1.1', 'Host: x', 'Connection: close', ...twice),
    );
    assert.equal(response.headers.get('x-ratelimit-remaining'), '98');
  });
});

interface Arrival {
  peer: string | undefined;
  forwarded?: string;
  proxies?: string;
}

/** The client of a request, as far as it can be told without a network of proxies. */
function counted({ peer, forwarded, proxies = '10.0.0.0/8 fd00::/8' }: Arrival): string {
  const { trustedProxies } = readConfig({ POPROOM_TRUSTED_PROXIES: proxies });
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress({ socket: { remoteAddress: peer }, headers } as IncomingMessage, trustedProxies);
}

async function remainingOf(api: TestServer['api'], sending: { from: string }): Promise<number> {
  return Number((await api.get('/api/health', sending)).headers.get('x-ratelimit-remaining'));
}
