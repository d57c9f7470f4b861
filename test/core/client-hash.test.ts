/** The hash of a client in logs and lists. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClientHash } from '../../src/core/clients.ts';

describe('the hash of a client', () => {
  it('[RUN-11] depends only on the client and the secret', () => {
    const hash = createClientHash('a secret');
    assert.match(hash('192.0.2.1'), /^[0-9a-f]{12}$/);
    assert.equal(hash('192.0.2.1'), createClientHash('a secret')('192.0.2.1'));
    const others = ['192.0.2.2', '2001:db8:0:1::/64', 'key:1'].map(hash);
    assert.equal(new Set([hash('192.0.2.1'), createClientHash('another')('192.0.2.1'), ...others]).size, 5);
  });
});
