/** Links between documents lead to existing files and headings. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { anchor } from '../../scripts/markdown.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/**/*.md', 'examples/*.md'];

it('[DOCS-6] every link between documents leads to a file, and to a heading of it', () => {
  for (const document of globSync(documents, { cwd: root })) {
    for (const [, target = ''] of prose(document).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)) {
      const [path = '', heading] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      assert.ok(existsSync(join(root, file)), `${document} leads to ${target}`);
      if (heading) assert.ok(headingsOf(file).includes(heading), `${document} leads to ${target}`);
    }
  }
});

/** Code may hold what looks like a link or a heading. */
function prose(document: string): string {
  return readFileSync(join(root, document), 'utf8').replaceAll(/^```.*?^```$/gms, '');
}

function headingsOf(file: string): string[] {
  assert.ok(statSync(join(root, file)).isFile(), file);
  return [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchor(heading));
}
