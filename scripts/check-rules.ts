/** Every rule of docs/spec.md has a test, and every id in the name of a test is a rule. */
import { globSync, readFileSync } from 'node:fs';

const rules = new Set(
  [...readFileSync('docs/spec.md', 'utf8').matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id),
);
const tested = new Set<string | undefined>();
for (const file of globSync('test/**/*.ts')) {
  for (const [, , name = ''] of readFileSync(file, 'utf8').matchAll(/\bit\(\s*(['"`])(.*?)\1/gs)) {
    for (const [, id] of name.matchAll(/\[([A-Z]+-\d+)\]/g)) tested.add(id);
  }
}

const untested = [...rules].filter((id) => !tested.has(id));
const unknown = [...tested].filter((id) => !rules.has(id));
if (untested.length > 0) console.error(`No test covers these rules of docs/spec.md: ${untested.join(', ')}`);
if (unknown.length > 0) console.error(`Tests name rules that docs/spec.md does not have: ${unknown.join(', ')}`);
if (untested.length + unknown.length > 0) process.exit(1);
console.log(`All ${rules.size} rules of docs/spec.md are covered by tests.`);
