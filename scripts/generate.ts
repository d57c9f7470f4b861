/** Writes openapi.json; with --check, says whether the one that stands there is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { openapiDocument } from '../src/http/openapi/index.ts';

const file = new URL('../openapi.json', import.meta.url);
const fresh = `${JSON.stringify(openapiDocument(), null, 2)}\n`;

if (!process.argv.includes('--check')) writeFileSync(file, fresh);
else if (standing() !== fresh) {
  console.error('openapi.json is not what the code says; run "npm run generate" and commit it.');
  process.exitCode = 1;
}

function standing(): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
