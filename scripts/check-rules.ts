/** Every rule of docs/spec.md is borne by a test, and every id that a test bears is a rule. */
import { globSync, readFileSync } from 'node:fs';

const rules = new Set(
  [...readFileSync('docs/spec.md', 'utf8').matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id),
);
const borne = new Set<string | undefined>();
for (const file of globSync('test/**/*.ts')) {
  for (const [, , name = ''] of readFileSync(file, 'utf8').matchAll(/\bit\(\s*(['"`])(.*?)\1/gs)) {
    for (const [, id] of name.matchAll(/\[([A-Z]+-\d+)\]/g)) borne.add(id);
  }
}

const untested = [...rules].filter((id) => !borne.has(id));
const unknown = [...borne].filter((id) => !rules.has(id));
if (untested.length > 0) console.error(`No test bears these rules of docs/spec.md: ${untested.join(', ')}`);
if (unknown.length > 0) console.error(`Tests bear ids that docs/spec.md does not have: ${unknown.join(', ')}`);
if (untested.length + unknown.length > 0) process.exit(1);
console.log(`All ${rules.size} rules of docs/spec.md are covered by tests.`);
