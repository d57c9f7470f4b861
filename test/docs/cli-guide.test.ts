/** Runs the recipes in docs/cli.md as written. */

import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { recipes } from '../../scripts/cli-recipes.ts';
import { commands } from '../../src/cli/commands.ts';
import { exitCodes } from '../../src/cli/errors.ts';
import { eventually } from '../support/eventually.ts';
import { createExampleRunner, fillPlaceholders, readExamples, readGuide, successOutput } from '../support/guide.ts';
import { startTestServer } from '../support/server.ts';

const examples = readExamples('docs/cli.md', 'sh');

describe('the guide of the command line', () => {
  it('[DOCS-1] has every command with its options, and every exit code', () => {
    const sections = readGuide('docs/cli.md');
    const said = sections.map(({ text }) => text).join('');
    for (const { name, options } of commands) {
      assert.ok(sections.some(({ heading }) => heading === `poproom ${name}`));
      for (const option of Object.keys(options)) assert.match(said, new RegExp(`^\\| \`.*--${option}\\b`, 'm'));
    }
    const exits = sections.find(({ heading }) => heading === 'Exit codes')?.text ?? '';
    for (const [code, means] of exitCodes) assert.match(exits, new RegExp(`^\\| ${code} +\\| ${means} +\\|$`, 'm'));
  });

  it('[DOCS-1] has whole sentences', () => {
    const page = readGuide('docs/cli.md')
      .map(({ text }) => text)
      .join('');
    const prose = proseOf(page);
    assert.ok(prose.length > 30);
    for (const { paragraph, isBeforeBlock } of prose) {
      assert.match(paragraph, isBeforeBlock ? /[.:]$/ : /\.$/, paragraph);
      assert.match(paragraph, /^[`A-Z]/, paragraph);
      assert.doesNotMatch(paragraph, /\. +[a-z]/, paragraph);
    }
  });

  it('[slow] [DOCS-4] has recipes that work', async (t) => {
    const { api, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '1000' });
    const example = await (await createExampleRunner(t)).createFolder();
    const room = await api.room();
    const content = `/api/rooms/${room}/content`;
    const lines = (name: string) => fillPlaceholders(examples[name] ?? assert.fail(name), { '7KQ2MX': room });
    const shell = (text: string) => example.shell(`export POPROOM_URL=${url}\n${text}`);
    const run = (name: string) => shell(lines(name));
    const write = (text: string) => api.post(content, { json: { content: text } });

    const tried: Record<string, () => Promise<void>> = {
      async share() {
        assert.match(await successOutput(run('share')), /\d\d:\d\d/);
      },
      async quick() {
        await writeFile(join(example.path, 'photo.jpg'), 'a photo');
        assert.match(await successOutput(run('quick')), /^[0-9A-Z]{6}\nhttp:.*photo\.jpg\n$/);
      },
      async folder() {
        const project = join(example.path, 'project');
        await mkdir(project);
        await writeFile(join(project, 'notes.txt'), 'on the way');
        const [here = '', there = ''] = lines('folder').split('# On the other machine:');
        await successOutput(shell(here));
        await rm(project, { recursive: true });
        await successOutput(shell(there));
        assert.equal(await readFile(join(project, 'notes.txt'), 'utf8'), 'on the way');
        await rm(project, { recursive: true });
      },
      async zip() {
        await successOutput(run('zip'));
        assert.equal(await readFile(join(example.path, 'project', 'notes.txt'), 'utf8'), 'on the way');
      },
      async once() {
        const key = join(example.path, 'key.pem');
        await writeFile(key, 'a secret key');
        const [here = '', there = ''] = lines('once').split(/# On the other machine.*/);
        await successOutput(shell(here));
        await rm(key);
        await successOutput(shell(there));
        assert.equal(await readFile(key, 'utf8'), 'a secret key');
        const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
        assert.ok(files.every(({ once }: { once?: true }) => !once));
      },
      async collect() {
        const shown = await successOutput(run('collect'));
        assert.match(shown, /party\/photo\.jpg\nparty\/note-[-0-9]+\.txt\nThe link was revoked\.\n$/);
      },
      async wait() {
        const waiting = run('wait');
        let isOver = false;
        void waiting.result.then(() => {
          isOver = true;
        });
        // A text that was written before it joined is not a change to it.
        let count = 0;
        await eventually('it has heard', async () => (await write(`see you at ${++count}`)) && isOver);
        assert.match(await successOutput(waiting), /^They said: see you at \d+\n$/);
      },
      async log() {
        await write('a line\n');
        await successOutput(run('log'));
        assert.match((await api.get(content)).json.content, /^a line\n.*\d\d:\d\d.*\n.*%/);
      },
      async careful() {
        await write('pears\napples\n');
        await successOutput(run('careful'));
        assert.equal((await api.get(content)).json.content, 'apples\npears\n');
      },
      async undo() {
        const other = await api.room();
        const path = `/api/rooms/${other}/content`;
        for (const text of ['one', 'two', 'This is long enough to be kept.', 'short'])
          await api.post(path, { json: { content: text } });
        const shown = await successOutput(shell(fillPlaceholders(examples.undo ?? '', { '7KQ2MX': other })));
        assert.match(shown, /^VERSION .*\n3 .*\nThis is long enough to be kept\.Restored version 3 /);
        assert.equal((await api.get(path)).json.content, 'This is long enough to be kept.');
      },
      async gone() {
        await api.delete(`/api/rooms/${room}`);
        const { code, stdout } = await run('gone').result;
        assert.deepEqual([code, stdout], [0, 'The room does not exist any more.\n']);
      },
    };

    assert.deepEqual(
      Object.keys(tried),
      recipes.map(({ name }) => name),
    );
    for (const [name, attempt] of Object.entries(tried)) await t.test(name, attempt);
  });
});

/** The paragraphs and items of a page, without headings, comments, tables and lines that are only code. */
function proseOf(page: string): { paragraph: string; isBeforeBlock: boolean }[] {
  const blocks = page.replaceAll(/^```.*?^```$/gms, '```').split(/\n{2,}/);
  const isProse = (block: string) => !/^(#|<!--|\||```|\d\. |- |`[^`]*`$)/.test(block.trim());
  return blocks.flatMap((block, i) => {
    if (!isProse(block)) return [];
    return [{ paragraph: block.trim(), isBeforeBlock: /^(```|\||\d\. |- )/.test(blocks[i + 1] ?? '') }];
  });
}
