import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { docsPage } from '../../src/http/docs/page.ts';
import { openapiDocument } from '../../src/http/openapi/index.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { errorCodes } from '../../src/protocol/error-codes.ts';
import { startTestServer } from '../support/server.ts';

const page = docsPage(openapiDocument());
/** What a reader sees, without the tags. */
const text = page
  .replace(/<style>.*?<\/style>/s, '')
  .replace(/<[^>]*>/g, '')
  .replaceAll('&quot;', '"')
  .replaceAll('&#39;', "'");

describe('the page of the API', () => {
  it('[API-11] contains every endpoint, with its path and an anchor', () => {
    for (const [name, { method, path, summary }] of Object.entries(endpoints)) {
      assert.ok(page.includes(`<article id="${name}">`), name);
      assert.ok(text.includes(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`), path);
      assert.ok(text.includes(summary), summary);
    }
  });

  it('[API-11] explains every error code', () => {
    for (const [code, sentence] of Object.entries(errorCodes)) {
      assert.ok(page.includes(`id="error-${code}"`), code);
      assert.ok(text.includes(sentence), sentence);
    }
  });

  it('[API-11] starts with three commands, and continues with PIN, keys, limits and errors', () => {
    const titles = [...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title);
    assert.equal(titles[0], 'Quick start');
    for (const title of ['PIN', 'API keys', 'Rate limits', 'Errors']) assert.ok(titles.includes(title), title);
  });

  it('[API-11] shows commands that can be copied as they are', () => {
    assert.ok(
      text.includes(
        `curl -X POST http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'X-Room-Pin: 0427' \\
  -H 'Content-Type: application/json' \\
  -d '{"content":"Hello"}'`,
      ),
    );
    assert.match(text, /-F file=@photo\.jpg/);
    assert.match(text, /curl -O http:\/\/localhost:8080\/files\/[0-9a-f]{32}\/photo\.jpg/);
  });

  it('[API-11] has no script and loads nothing', () => {
    assert.doesNotMatch(page, /<script|<link|<iframe|<img|\ssrc=|\son\w+=|@import|url\(|javascript:/i);
    const addresses = [...page.matchAll(/href="([^"]*)"/g)].map(([, address]) => address ?? '');
    for (const address of addresses) assert.match(address, /^(#[\w-]+|\/api\/openapi\.json)$/);
  });

  it('[API-11] has a target for every link within it, and no id twice', () => {
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const [, id] of page.matchAll(/href="#([^"]*)"/g)) assert.ok(ids.includes(id), `#${id}`);
  });

  it('[API-11] escapes everything in the document', () => {
    const hostile = `<script>alert("1")</script>'&`;
    const document = openapiDocument();
    document.info.title = hostile;
    document.info.description = `${hostile}\n\n## ${hostile}\n\n- \`${hostile}\`\n\n\`\`\`json\n${hostile}\n\`\`\``;
    document.paths = JSON.parse(
      JSON.stringify(document.paths).replaceAll('Create a room', JSON.stringify(hostile).slice(1, -1)),
    );
    for (const example of Object.values(document.components.examples)) example.value = { [hostile]: hostile };
    const escaped = docsPage(document);
    assert.doesNotMatch(escaped, /<script/i);
    assert.ok(escaped.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;'));
  });

  it('[API-11] is served', async (t) => {
    const { api, url } = await startTestServer(t);
    const served = await api.get('/docs');
    assert.equal(served.status, 200);
    assert.match(served.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.equal(served.text, page.replaceAll('http://localhost:8080', url), 'its commands name this server');
  });
});
