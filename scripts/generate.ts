/** Writes openapi.json and asyncapi.json; with --check, says which of those that stand there are out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { asyncapiDocument } from '../src/http/asyncapi.ts';
import { openapiDocument } from '../src/http/openapi/index.ts';

const documents = { 'openapi.json': openapiDocument, 'asyncapi.json': asyncapiDocument };

for (const [name, build] of Object.entries(documents)) {
  const file = new URL(`../${name}`, import.meta.url);
  const fresh = `${JSON.stringify(build(), null, 2)}\n`;
  if (!process.argv.includes('--check')) writeFileSync(file, fresh);
  else if (standing(file) !== fresh) {
    console.error(`${name} is not what the code says; run "npm run generate" and commit it.`);
    process.exitCode = 1;
  }
}

function standing(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
