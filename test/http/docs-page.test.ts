/** The API documentation at /docs, as the server sends it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { docsPage } from '../../scripts/docs-page.ts';
import { tableCells } from '../../scripts/markdown.ts';
import { pageInFolder } from '../../src/http/page/source.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { errorCodes } from '../../src/protocol/error-codes.ts';
import { clientMessages, serverMessages } from '../../src/protocol/live.ts';
import { closeCodes } from '../../src/protocol/live-protocol.ts';
import { assertError } from '../support/assert-error.ts';
import { createPageFolder } from '../support/page-folder.ts';
import { requestLines, requestRaw } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** The page, and its text without the tags. */
async function openDocs(t: TestContext, env: Record<string, string> = {}) {
  const server = await startTestServer(t, env);
  const { status, text: page, headers } = await server.api.get('/docs');
  assert.equal(status, 200);
  return { server, page, headers, text: textOf(page) };
}

function textOf(html: string): string {
  const text = html.replace(/<(style|script)\b.*?<\/\1>/gs, '').replace(/<[^>]*>/g, '');
  const entities = { quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' };
  return text.replace(/&(quot|#39|lt|gt|amp);/g, (_, name: keyof typeof entities) => entities[name]);
}

/** The value in a row of the table of limits. */
function limitIn(page: string, name: string): string {
  const [, value = ''] = new RegExp(`<th scope="row">${name}</th><td data-name="value">(.*?)</td>`).exec(page) ?? [];
  return textOf(value);
}

describe('the API documentation', () => {
  it('[API-11] has every endpoint, with its path and an anchor', async (t) => {
    const { page, text } = await openDocs(t);
    for (const [name, { method, path, tag, summary }] of Object.entries(endpoints)) {
      assert.ok(text.includes(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`), path);
      if (tag === 'Page') continue;
      assert.ok(page.includes(`<article id="${name}">`), name);
      assert.ok(text.includes(summary), summary);
    }
  });

  it('[API-11] explains every error code, live message and close code', async (t) => {
    const { page, text } = await openDocs(t);
    for (const [code, [, meaning]] of Object.entries(errorCodes)) {
      assert.ok(page.includes(`id="error-${code}"`), code);
      assert.ok(text.includes(meaning), meaning);
    }
    for (const [direction, messages] of Object.entries({ send: clientMessages, receive: serverMessages }))
      for (const [type, { description }] of Object.entries(messages)) {
        assert.ok(page.includes(`id="${direction}-${type}"`), type);
        assert.ok(text.includes(description.replaceAll('`', '')), description);
      }
    for (const [code, meaning] of Object.entries(closeCodes))
      assert.match(text, new RegExp(`${code}${RegExp.escape(meaning.replaceAll('`', ''))}`));
  });

  it('[API-11] [DOCS-1] contains everything that docs/api.md contains', async (t) => {
    const { text } = await openDocs(t);
    const guide = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
    const examples = [...guide.matchAll(/^```\w*\n(.*?)\n```$/gms)].map(([, code = '']) => code);
    assert.ok(examples.length > 60);
    for (const example of examples) assert.ok(text.includes(example), example);
    for (const sentence of sentencesIn(guide)) assert.ok(text.includes(sentence), sentence);
  });

  it('[slow] [API-11] has the default limits', async (t) => {
    const { page, text } = await openDocs(t);
    assert.equal(limitIn(page, 'Size of a text, in UTF-8'), '1 MiB');
    assert.equal(limitIn(page, 'Files in a room'), '100 files; in total 100 MiB');
    assert.equal(limitIn(page, 'Requests in the free tier'), '100 requests per hour');
    assert.match(text, /A room expires after 24 hours, or after expiresIn seconds: from 60 to 604,800 \(7 days\)\./);
    assert.match(text, /An API key is optional on this server\./);
    assert.doesNotMatch(page, /\{\{|by default/);
  });

  it('[API-11] has the limits of this server', async (t) => {
    const { page, text } = await openDocs(t, {
      POPROOM_ROOM_TTL: '90m',
      POPROOM_ROOM_MAX_TTL: '2d',
      POPROOM_CONTENT_MAX: '300KiB',
      POPROOM_CLIENT_MAX_BYTES: '1500000',
      POPROOM_KEY_MAX_BYTES: '0',
      POPROOM_FREE_LIMIT: '1234',
      POPROOM_PRO_LIMIT: '0',
      POPROOM_MISS_LIMIT: '1',
      POPROOM_MAX_DEVICES_PER_ROOM: '7',
      POPROOM_MAX_CHANNELS_PER_CLIENT: '1',
      POPROOM_REQUIRE_API_KEY: 'true',
    });
    const limits = {
      'Lifetime of a room': '90 minutes',
      'Lifetime that you can request': 'from 60 seconds to 2 days',
      'Size of a text, in UTF-8': '300 KiB',
      'Storage per address without an API key': '1,500,000 bytes',
      'Storage per API key': 'no limit',
      'Requests in the free tier': '1,234 requests per hour',
      'Requests in the pro tier': 'any number of requests',
      'Unknown codes and wrong PINs': '1 failed lookup per hour',
      'Devices in a room': '7 devices',
      'Live channels per client': '1 channel',
    };
    for (const [name, value] of Object.entries(limits)) assert.equal(limitIn(page, name), value, name);
    assert.match(text, /A room expires after 90 minutes, or after expiresIn seconds: from 60 to 172,800 \(2 days\)\./);
    assert.match(text, /The free tier allows 1,234 requests per hour, and the pro tier any number of requests\./);
    assert.match(text, /This server requires an API key for every request under \/api\./);
  });

  it('[slow] [API-11] names the server of its commands, which its script replaces', async (t) => {
    const { text } = await openDocs(t);
    assert.ok(text.includes('curl -X POST http://localhost:8080/api/rooms\n'));
    assert.ok(text.includes('The examples use the server at http://localhost:8080 and a room with the code 7KQ2MX.'));
  });

  it('[slow] [API-11] has the public URL in its commands, with nothing in it taken for HTML', async (t) => {
    const { page, text } = await openDocs(t, { POPROOM_PUBLIC_URL: "https://pop.example.org/it's&$&amp;" });
    assert.ok(text.includes("curl -X POST https://pop.example.org/it's&$&amp;/api/rooms"));
    assert.ok(page.includes('https://pop.example.org/it&#39;s&amp;$&amp;amp;/api/rooms'));
  });

  it('[API-11] loads nothing but its icon, and runs only its own script', async (t) => {
    const { page, headers } = await openDocs(t);
    const [[, script = ''] = [], ...others] = page.matchAll(/<script type="module">(.*?)<\/script>/gs);
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    assert.equal(others.length, 0);
    assert.equal(
      headers.get('content-security-policy'),
      `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; img-src 'self'; ` +
        "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    assert.doesNotMatch(page, /<iframe|\son\w+=|\sstyle=|@import|\burl\(|javascript:/i);
    const sources = [...page.matchAll(/\s(?:src|href)="([^"#]+)"/g)].map(([, address]) => address);
    const known = ['/', '/api/asyncapi.json', '/api/openapi.json', '/assets/icon.svg'];
    assert.deepEqual([...new Set(sources)].toSorted(), known);
  });

  it('[API-11] has a target for every link within it, and no id twice', async (t) => {
    const { page } = await openDocs(t);
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const [, id] of page.matchAll(/href="#([^"]*)"/g)) assert.ok(ids.includes(id), `#${id}`);
  });

  it('[API-11] escapes the text of the guide', () => {
    const hostile = `<script>alert("1")</script>'&`;
    const guide = [`## ${hostile}`, hostile, `- \`${hostile}\``, `| ${hostile} |\n| --- |\n| ${hostile} |`];
    const page = docsPage([...guide, `\`\`\`json\n${hostile}\n\`\`\``].join('\n\n'), { css: '', script: '' });
    assert.equal(page.match(/<script/g)?.length, 1);
    assert.ok(page.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;'));
  });

  it('[API-11] is missing if it was not built', async (t) => {
    const { folder } = await createPageFolder(t);
    const { api } = await startTestServer(t, {}, { page: pageInFolder(folder) });
    const response = await api.get('/docs');
    assertError(response, 404, 'NOT_FOUND');
    assert.match(response.json.error.message, /npm run build/);
  });
});

describe('the API documentation over HTTP', () => {
  it('[slow] [API-11] is compressed as the client accepts it, each time with the same text', async (t) => {
    const { server, page } = await openDocs(t);
    const plain = await request(t, server, new URL(server.url).host);
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(plain.text, page);
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const [encoding, decode] of Object.entries(decoders)) {
      const { headers, bytes } = await rawBytes(server, encoding);
      assert.deepEqual([headers['content-encoding'], headers.vary], [encoding, 'Accept-Encoding']);
      assert.equal(decode(bytes).toString(), page);
      assert.ok(bytes.length < page.length / 4, `${encoding}: ${bytes.length} bytes`);
    }
  });

  it('[slow] [API-11] is not sent again to a client that has it', async (t) => {
    const { server } = await openDocs(t);
    const tags = new Set<string>();
    for (const encoding of ['br', 'gzip', 'identity']) {
      const sent = { 'accept-encoding': encoding };
      const first = await server.api.get('/docs', { headers: sent });
      const tag = first.headers.get('etag') ?? '';
      assert.match(tag, /^"[\w-]+"$/);
      tags.add(tag);
      const again = await server.api.get('/docs', { headers: { ...sent, 'if-none-match': tag } });
      assert.deepEqual([again.status, again.text], [304, '']);
      for (const name of ['etag', 'cache-control', 'vary', 'content-security-policy'])
        assert.equal(again.headers.get(name), first.headers.get(name), name);
      const other = await server.api.get('/docs', { headers: { ...sent, 'if-none-match': '"x"' } });
      assert.equal(other.status, 200);
    }
    assert.equal(tags.size, 3);
  });

  it('[slow] [API-11] has another ETag if the server has other limits', async (t) => {
    const { server, headers } = await openDocs(t, { POPROOM_PUBLIC_URL: 'https://pop.example.org' });
    await server.restart({ POPROOM_CONTENT_MAX: '2MiB' });
    const { status, headers: after } = await server.api.get('/docs', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    assert.equal(status, 200);
    assert.notEqual(after.get('etag'), headers.get('etag'));
  });

  it('[API-11] answers HEAD as GET, without the page', async (t) => {
    const { server, headers } = await openDocs(t);
    const head = await server.api.call('HEAD', '/docs');
    assert.deepEqual([head.status, head.text], [200, '']);
    for (const name of ['etag', 'content-type', 'content-encoding', 'content-length', 'content-security-policy'])
      assert.equal(head.headers.get(name), headers.get(name), name);
  });

  it('[API-11] is one document for all host names, so that invented ones cost nothing', async (t) => {
    const { server, page, headers } = await openDocs(t);
    for (let n = 0; n < 12; n++) {
      const other = await request(t, server, `host-${n}.test`, 'Accept-Encoding: gzip');
      assert.deepEqual([other.status, other.headers.get('content-encoding')], [200, 'gzip']);
    }
    const plain = await request(t, server, 'host-12.test', 'X-Forwarded-Proto: https');
    assert.equal(plain.text, page);
    assert.equal(plain.headers.get('content-security-policy'), headers.get('content-security-policy'));
  });
});

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

function request(t: TestContext, { port }: TestServer, host: string, ...headers: string[]) {
  return requestRaw(t, port, requestLines('GET /docs HTTP/1.1', `Host: ${host}`, ...headers, 'Connection: close'));
}

/** Without decoding, which fetch always does. */
async function rawBytes({ port }: TestServer, encoding: string) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { 'accept-encoding': encoding };
  get({ host: '127.0.0.1', port, path: '/docs', headers }, resolve).on('error', reject);
  const response = await promise;
  return { headers: response.headers, bytes: Buffer.concat(await response.toArray()) };
}

/** The sentences of docs/api.md as /docs has them, except those about other servers and other documents. */
function sentencesIn(guide: string): string[] {
  const prose = guide.replaceAll(/^```.*?^```$/gms, '').replaceAll(/^<!--.*-->$/gm, '');
  const texts = prose.split('\n').flatMap((line) => (line.startsWith('|') ? tableCells(line).flat() : [line]));
  return texts
    .filter((text) => !/^# |^-+$|spec\.md|operator of (a|the) server/.test(text))
    .map((text) =>
      text
        .replace(/^(#+|-) /, '')
        .replaceAll(' by default', '')
        .replaceAll(/\*\*|`/g, ''),
    )
    .map((text) => text.replaceAll(/\[([^\]]*)\]\((\w+\.md)[^)]*\)/g, '$1 (docs/$2)'))
    .map((text) => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim());
}
