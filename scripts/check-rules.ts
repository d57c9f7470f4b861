/** Every rule of docs/spec.md has a test, nine of ten have one in `npm test`, and every id in a test is a rule. */
import { globSync, readFileSync } from 'node:fs';
import { testModulesOf } from './test-imports.ts';
import { isSlowFile, isSlowTest } from './test-selection.ts';

const leastInFastTests = 0.9;

const spec = readFileSync('docs/spec.md', 'utf8');
const rules = new Set([...spec.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id = '']) => id));
const files = globSync('test/**/*.test.ts');
const tested = rulesOf(files, () => true);
const testedFast = rulesOf(
  files.filter((file) => !isSlowFile(file)),
  (name) => !isSlowTest(name),
);

const untested = [...rules].filter((id) => !tested.has(id));
const unknown = [...tested].filter((id) => !rules.has(id));
const slowOnly = [...rules].filter((id) => tested.has(id) && !testedFast.has(id));
const least = Math.ceil(rules.size * leastInFastTests);
const inFastTests = rules.size - untested.length - slowOnly.length;
const problems = [
  untested.length > 0 && `No test covers these rules of docs/spec.md: ${untested.join(', ')}`,
  unknown.length > 0 && `Tests name rules that docs/spec.md does not have: ${unknown.join(', ')}`,
  inFastTests < least && `At least ${least} rules must have a test in "npm test".`,
].filter((problem) => problem !== false);
console.log(`Of ${rules.size} rules in docs/spec.md, ${inFastTests} have a test in "npm test".`);
console.log(`Only in "npm run test:all": ${slowOnly.join(', ')}`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

/** The ids in the names of these tests, also of the suites that the files import. */
function rulesOf(files: readonly string[], isCounted: (name: string) => boolean): Set<string> {
  const modules = new Set(files.flatMap((file) => [...testModulesOf(file)]));
  const names = [...modules].flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bit\(\s*(['"`])(.*?)\1/gs)]);
  const counted = names.map(([, , name = '']) => name).filter(isCounted);
  return new Set(counted.flatMap((name) => [...name.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id = '']) => id)));
}
