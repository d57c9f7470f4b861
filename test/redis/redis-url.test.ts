/** The Redis URLs that POPROOM_STORE accepts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRedisUrl } from '../../src/redis/redis-url.ts';

describe('a Redis URL', () => {
  it('is parsed with all options', () => {
    const { mode, tls, nodes, username, password, database, prefix } = parseRedisUrl(
      'rediss://me:a%40b@[::1]:7000/3?prefix=x',
    );
    assert.deepEqual(
      { mode, tls, nodes, username, password, database, prefix },
      {
        mode: 'single',
        tls: true,
        nodes: [{ host: '::1', port: 7000 }],
        username: 'me',
        password: 'a@b',
        database: 3,
        prefix: 'x',
      },
    );
  });

  it('has default ports, with a different one for Sentinels', () => {
    assert.deepEqual(parseRedisUrl('redis://a,b:7000?cluster').nodes, [
      { host: 'a', port: 6379 },
      { host: 'b', port: 7000 },
    ]);
    assert.deepEqual(parseRedisUrl('redis://a?sentinel=s').nodes, [{ host: 'a', port: 26_379 }]);
  });

  const [open, secured] = ['redis://me:secret@a?sentinel=s', 'rediss://me:secret@a?sentinel=s'];
  const logins: [description: string, text: string, login: object][] = [
    ['with the credentials of the servers', open, { tls: false, username: 'me', password: 'secret' }],
    ['with TLS if the servers use it', secured, { tls: true, username: 'me', password: 'secret' }],
    ['without TLS', `${secured}&sentinelTls=false`, { tls: false, username: 'me', password: 'secret' }],
    [
      'with a separate password',
      `${open}&sentinelPassword=a%26b`,
      { tls: false, username: undefined, password: 'a&b' },
    ],
    ['with a separate user', `${open}&sentinelUser=you`, { tls: false, username: 'you', password: 'secret' }],
    ['without a password', `${open}&sentinelPassword=`, { tls: false, username: undefined, password: undefined }],
  ];
  for (const [description, text, login] of logins) {
    it(`[NODE-17] connects to the Sentinels ${description}`, () => {
      assert.deepEqual(parseRedisUrl(text).sentinel, { name: 's', ...login });
    });
  }

  const invalid: [text: string, message: RegExp][] = [
    ['redis://', /must look like/],
    ['redis://a,b', /several servers/],
    ['redis://a/1?cluster', /a cluster does not support/],
    ['redis://a?color=red', /unknown option "color"/],
    ['redis://a?sentinelPassword=x', /"sentinelPassword" without \?sentinel=NAME/],
    ['redis://a?sentinel=s&sentinelTls=maybe', /true or false/],
  ];
  for (const [text, message] of invalid) {
    it(`is rejected with a reason: ${text}`, () => assert.throws(() => parseRedisUrl(text), message));
  }
});
