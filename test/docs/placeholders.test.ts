/** Texts name limits as `{{textSize}}`. No reader may see that. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import * as adminSchemas from '../../src/protocol/admin-schemas.ts';
import * as parameters from '../../src/protocol/endpoints/endpoint.ts';
import * as errorCodes from '../../src/protocol/error-codes.ts';
import * as fields from '../../src/protocol/fields.ts';
import * as live from '../../src/protocol/live.ts';
import * as schemas from '../../src/protocol/schemas.ts';
import { startTestServer } from '../support/server.ts';

const placeholder = /\{\{\w+\}\}/;

const root = new URL('../../', import.meta.url);
const textOf = (name: string) => readFile(new URL(name, root), 'utf8');

describe('the names of limits in texts', () => {
  it('[API-11] are not in schemas, whose descriptions are in types, in error messages and in both documents', () => {
    for (const part of [adminSchemas, errorCodes, fields, live, parameters, schemas])
      assert.doesNotMatch(JSON.stringify(part), placeholder);
  });

  it('[DOCS-1] are not in the documents of the repository', async () => {
    const guides = (await readdir(new URL('docs/', root))).filter((name) => name.endsWith('.md'));
    const names = ['README.md', 'openapi.json', 'asyncapi.json', 'src/protocol/types.ts', 'man/poproom.1'];
    for (const name of [...names, ...guides.map((guide) => `docs/${guide}`)]) {
      assert.doesNotMatch(await textOf(name), placeholder, name);
    }
  });

  it('[API-11] are not in what a server sends', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_CONTENT_MAX: '2MiB', POPROOM_FREE_LIMIT: '0' });
    for (const path of ['/', '/docs', '/api/openapi.json', '/api/asyncapi.json', '/api/limits']) {
      const { status, text } = await api.get(path);
      assert.equal(status, 200, path);
      assert.doesNotMatch(text, placeholder, path);
    }
  });
});
