/** The links that the page shares. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type * as Router from '../../web/src/router.ts';

const lan = 'http://192.168.1.20:8080';

describe('the links that the page copies', () => {
  let router: typeof Router;
  let baseUrl: string;

  before(async () => {
    // The parts of a browser that these modules read when they are loaded.
    const content: Record<string, string> = { 'meta[name="poproom-address"]': lan };
    const querySelector = (selector: string) => (selector in content ? { content: content[selector] } : null);
    Object.assign(globalThis, {
      document: { querySelector },
      location: { origin: 'file://', pathname: '/', href: 'file:///' },
      addEventListener: () => undefined,
    });
    router = await import('../../web/src/router.ts');
    ({ baseUrl } = await import('../../web/src/page-settings.ts'));
  });

  it('[LINK-9] have the same base for a room and its files, which other devices can reach', () => {
    assert.equal(router.linkTo('7KQ2MX'), `${lan}/r/7KQ2MX`);
    assert.equal(router.linkToFile({ fileUrl: `${baseUrl}/files/a1/note.txt` }), `${lan}/files/a1/note.txt`);
  });

  it('[LINK-9] keep the origin of files that have their own', () => {
    const fileUrl = 'https://files.example/a1/note.txt';
    assert.equal(router.linkToFile({ fileUrl }), fileUrl);
  });
});
