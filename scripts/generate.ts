/** Writes what follows from the code: descriptions, types, pages; with --check, says which of those that stand there are out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { asyncapiDocument } from '../src/http/asyncapi.ts';
import { openapiDocument } from '../src/http/openapi/index.ts';
import { apiGuide } from './api-guide.ts';
import { cliGuide } from './cli-guide.ts';
import { protocolTypes } from './protocol-types.ts';

const inJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
const documents = {
  'openapi.json': () => inJson(openapiDocument()),
  'asyncapi.json': () => inJson(asyncapiDocument()),
  'src/protocol/types.ts': protocolTypes,
  'docs/api.md': apiGuide,
  'docs/cli.md': cliGuide,
};

for (const [name, build] of Object.entries(documents)) {
  const file = new URL(`../${name}`, import.meta.url);
  const fresh = await build();
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
