/** Runs the three examples in the README as written, and compares its figures with the benchmark's. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { tableCells } from '../../scripts/markdown.ts';
import { eventually } from '../support/eventually.ts';
import {
  createExampleRunner,
  fillPlaceholders,
  parseCurlOutput,
  readExamples,
  readGuide,
  successOutput,
} from '../support/guide.ts';
import { startTestServer } from '../support/server.ts';

const examples = { ...readExamples('README.md', 'sh'), ...readExamples('README.md', 'js') };

describe('the README', () => {
  it('[DOCS-2] creates a room, writes to it and uploads with curl', async (t) => {
    const { folder, example } = await setUp(t);
    const answers = parseCurlOutput(await successOutput(folder.shell(example('curl'))));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 201],
    );
  });

  it('[DOCS-2] follows a room with the SDK', async (t) => {
    const { api, room, folder, example } = await setUp(t);
    const following = await folder.module('example.mjs', example('sdk'));
    // Its snapshot contains earlier text.
    await eventually('it heard of a change', async () => {
      await api.post(`/api/rooms/${room}/content`, { json: { content: 'and back' } });
      return following.stdout().includes('["and back"]');
    });
    await api.delete(`/api/rooms/${room}`);
    await successOutput(following);
  });

  it('[slow] [DOCS-2] writes, sends and reads with the command line', async (t) => {
    const { api, room, folder, example } = await setUp(t);
    assert.match(await successOutput(folder.shell(example('cli'))), /Hello from a terminal$/);
    assert.equal((await api.get(`/api/rooms/${room}/files`)).json.files[0].fileName, 'photo.jpg');
  });

  it('[DOCS-7] has the figures of the benchmark, each with the row that repeats it', () => {
    const performance = textOf('docs/performance.md');
    const numbers = readGuide('README.md').find(({ heading }) => heading === 'Numbers')?.text ?? '';
    const [, , ...rows] = tableCells(numbers.slice(numbers.indexOf('| work')).split('\n\n')[0] ?? '');
    assert.ok(rows.length > 3);
    for (const [work = '', own = '', compared = '', command = ''] of rows) {
      const measured = performance.split('\n').find((line) => line.startsWith(`| ${work} `)) ?? assert.fail(work);
      const figures = `${own} ${compared}`.match(/\d[\d.,]*/g) ?? [];
      for (const figure of figures) assert.ok(measured.includes(figure), `${work}: ${figure}`);
      const [, row] = /^`npm run bench -- --only ([\w-]+)`$/.exec(command) ?? [];
      assert.ok(performance.match(/^The rows are .*$/m)?.[0].includes(`\`${row}\``), command);
    }
  });
});

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

async function setUp(t: TestContext) {
  const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '10000' });
  const room = await api.room();
  const folder = await (await createExampleRunner(t)).createFolder({ 'photo.jpg': 'a photo' });
  const example = (name: string) =>
    fillPlaceholders(examples[name] ?? assert.fail(name), { 'http://localhost:8080': url, '7KQ2MX': room });
  return { api, room, folder, example };
}
