/** Writes the files that are generated from the code. With --check, reports the outdated ones instead. */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { type Definition, definitions } from '../src/metrics/definitions.ts';
import { apiGuide } from './api-guide/index.ts';
import { closeCodeTable } from './api-guide/live.ts';
import { asyncapiDocument } from './asyncapi.ts';
import { cliGuide } from './cli-guide.ts';
import { manPage } from './man-page.ts';
import { table } from './markdown.ts';
import { openapiDocument } from './openapi/index.ts';
import { protocolTypes } from './protocol-types.ts';
import { responseChecks } from './response-checks.ts';
import { settingsTable } from './settings-guide.ts';

const inJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
const documents = {
  'openapi.json': () => inJson(openapiDocument()),
  'asyncapi.json': () => inJson(asyncapiDocument()),
  'src/protocol/types.ts': protocolTypes,
  'src/client/response-checks.ts': responseChecks,
  'docs/api.md': apiGuide,
  'docs/cli.md': cliGuide,
  'man/poproom.1': manPage,
  'web/src/i18n/languages/en.json': () => inJson(englishStrings()),
  'docs/live.md': liveGuide,
  'docs/monitoring.md': () => withTable('docs/monitoring.md', 'metrics', metricsTable()),
  'docs/operations.md': () => withTable('docs/operations.md', 'settings', settingsTable()),
};

for (const [name, build] of Object.entries(documents)) {
  const current = currentText(name);
  const generated = await build();
  assertFilled(name, generated);
  if (!process.argv.includes('--check')) writeFileSync(urlOf(name), generated);
  else if (current !== generated) {
    console.error(`${name} is out of date; run "npm run generate" and commit it.`);
    process.exitCode = 1;
  }
}

/** Only descriptions of endpoints and chapters may name limits as `{{textSize}}`. Elsewhere, nothing replaces them. */
function assertFilled(name: string, text: string): void {
  const [placeholder] = /\{\{\w+\}\}/.exec(text) ?? [];
  if (placeholder)
    throw new Error(`${name} would contain ${placeholder}. Only the texts of the API guide may have it.`);
}

/** Written by hand, except for the table of close codes. */
function liveGuide(): string {
  return currentText('docs/live.md').replace(/^\| close code .*\n(?:\|.*\n)+/m, () => `${closeCodeTable()}\n`);
}

/** The source catalog for translation tools. The page loads English in parts. */
function englishStrings(): object {
  const parts = globSync('web/src/i18n/languages/en/*.json', { cwd: urlOf('') }).toSorted();
  return Object.assign({}, ...parts.map((part) => JSON.parse(currentText(part))));
}

/** Empty if the file does not exist. */
function currentText(name: string): string {
  return existsSync(urlOf(name)) ? readFileSync(urlOf(name), 'utf8') : '';
}

function urlOf(name: string): URL {
  return new URL(`../${name}`, import.meta.url);
}

/** A document that is written by hand, except for one table between two comments. */
function withTable(name: string, what: string, rows: string): string {
  const [begin, end] = [`<!-- ${what}: generated -->\n`, `<!-- end of ${what} -->`];
  const [before = '', rest = ''] = currentText(name).split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n${rows}\n\n${end}${after}`;
}

function metricsTable(): string {
  const rows = Object.values<Definition>(definitions).map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return table(['metric', 'type', 'labels', 'meaning'], rows);
}
