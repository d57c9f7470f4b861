/** docs/api.md: the OpenAPI document as a page for developers, with requests to copy for each endpoint. */
import { type Field, fieldsOf } from '../src/http/docs/fields.ts';
import { sections } from '../src/http/docs/markdown.ts';
import { follow, type Operation, type Parameter, type Response } from '../src/http/openapi/document.ts';
import { openapiDocument } from '../src/http/openapi/index.ts';
import { endpoints } from '../src/protocol/endpoints.ts';
import { cliStart, type Snippets, sdkStart, snippets, withPin } from './api-snippets.ts';
import { anchor, fence, jsonFence, paragraphs, table } from './markdown.ts';

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

const document = openapiDocument();
const entries: Entry[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);
const shown = entries.filter(({ operation }) => operation.operationId in snippets);
/** Operations on a room share parameters and errors, which are listed once. */
const inRooms = shown.flatMap(({ operation }) => (namesOf(operation).includes('X-Room-Pin') ? [operation] : []));
const sharedNames = inAll(inRooms.map(namesOf));
const sharedErrors = inAll(inRooms.map(errorsOf));
const roomsHeading = 'What every request to a room takes';

export function apiGuide(): string {
  const { lead, rest } = sections(document.info.description);
  return `${paragraphs([
    '# The API',
    '<!-- Written by "npm run generate" from the OpenAPI document and scripts/api-snippets.ts. -->',
    lead,
    aboutThisPage,
    overview(),
    threeWays(),
    ...rest.flatMap(({ title, body }) => [`## ${title}`, body.trim(), ...(additions[title] ?? [])]),
    sharedByRooms(),
    ...document.tags.flatMap(({ name, description }) => chapter(name, description)),
    forBrowsers(),
    errorCodes(),
    rateHeaders(),
  ])}\n`;
}

const aboutThisPage = `The examples use a server at \`http://localhost:8080\` and a room with the code \`7KQ2MX\`. Replace both with yours. \
Tests run every example as it is printed here. Your own server has the same documentation at \`/docs\` and, for programs, \
at \`/api/openapi.json\`. [spec.md](spec.md) lists what the API guarantees, rule by rule.`;

function overview(): string {
  const rows = shown.map(({ method, path, operation: { summary } }) => {
    return [`\`${method} ${path}\``, `[${summary}](#${anchor(summary)})`];
  });
  return table(['endpoint', ''], rows);
}

function threeWays(): string {
  return paragraphs([
    '## curl, SDK or command line',
    'curl needs no setup. The [SDK](sdk.md) examples start with these lines:',
    fence('js', sdkStart),
    'The [command line](cli.md) examples need the URL of the server:',
    fence('sh', cliStart),
  ]);
}

/** Printed after a chapter of the description. */
const additions: Record<string, readonly string[]> = {
  PIN: [...requests(withPin), versions()],
};

function versions(): string {
  return `## Versions

Each write makes the next version of the text. The content endpoints return it in \`ETag\`; a new room has version \`"0"\`.

- To change a part of the text or to add to it, [send edits](#${anchor(endpoints.editContent.summary)}). Edits of an older version are \
rebased over the newer ones, so writers at the same time do not overwrite each other.
- To replace the whole text only if nobody else changed it, send \`If-Match: "7"\`. If the text has another version by \
then, the answer is \`412 VERSION_CONFLICT\` with the current text and version in \`details\`: merge, and write again.
- To read only what is new, send \`If-None-Match: "7"\`. The answer to an unchanged text is \`304\`. It still counts as a \
request; to follow a room, use [the live channel](#endpoints-live).`;
}

function requests({ curl, sdk, cli }: Snippets): string[] {
  return [curl && fence('sh', curl), sdk && fence('js', sdk), cli && fence('sh', cli)].filter(
    (text) => text !== undefined,
  );
}

function sharedByRooms(): string {
  return paragraphs([
    `## ${roomsHeading}`,
    fieldTable(fieldsOf(document, inRooms[0] as Operation).filter(isShared)),
    `Whichever it is, it may be refused with ${list(sharedErrors)}.`,
  ]);
}

function chapter(tag: string, description: string): string[] {
  const inside = shown.filter(({ operation }) => operation.tags.includes(tag));
  if (inside.length === 0) return [];
  return [`## Endpoints: ${tag.toLowerCase()}`, description, ...inside.map(endpoint)];
}

function endpoint({ method, path, operation }: Entry): string {
  const { summary, operationId, description } = operation;
  const shown: Snippets = snippets[operationId as keyof typeof snippets];
  return paragraphs([
    `### ${summary}`,
    `<!-- ${operationId} -->`,
    `\`${method} ${path}\``,
    description,
    takes(operation),
    ...requests(shown),
    shown.note,
    ...answersOf(operation).filter(isNoError).map(answer),
    errorLine(operation),
  ]);
}

function takes(operation: Operation): string | undefined {
  const all = fieldsOf(document, operation);
  const fields = inRooms.includes(operation) ? all.filter((field) => !isShared(field)) : all;
  const others = inRooms.includes(operation) && `[what every request to a room takes](#${anchor(roomsHeading)})`;
  if (fields.length === 0) return others ? `It takes ${others}.` : undefined;
  return paragraphs([others ? `Besides ${others}:` : undefined, fieldTable(fields)]);
}

/** In a body, a name of the same kind is the endpoint's own. */
const isShared = ({ name, where }: Field) => sharedNames.includes(name) && where !== 'body' && where !== 'form';

function parametersOf({ parameters = [] }: Operation): Parameter[] {
  return parameters.map((parameter) => follow(document, parameter));
}

function namesOf(operation: Operation): string[] {
  return parametersOf(operation).map(({ name }) => name);
}

function inAll(lists: readonly (readonly string[])[]): string[] {
  return (lists[0] ?? []).filter((item) => lists.every((list) => list.includes(item)));
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ name, where, required, description, example }) => {
    const isSaid = example === undefined || description.includes(example);
    return [
      `\`${name}\``,
      required ? `${where}, required` : where,
      isSaid ? description : `${description} Such as \`${example}\`.`,
    ];
  });
  return table(['name', 'where', ''], rows);
}

type Answer = Response & { status: string };

function answersOf({ responses }: Operation): Answer[] {
  return Object.entries(responses).map(([status, response]) => ({ status, ...follow(document, response) }));
}

function isNoError({ content }: Response): boolean {
  return content?.['application/json']?.examples === undefined;
}

function answer({ status, description, headers, content }: Answer): string {
  const own = Object.entries(headers).filter(([name]) => !isOnEveryResponse(name));
  const lines = own.map(([name, header]) => `\`${name}: ${follow(document, header).example}\``);
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  return paragraphs([
    `**${status}** ${description}${lines.length > 0 ? ` With ${lines.join(', ')}.` : ''}`,
    type === 'application/json' ? jsonFence(media?.example) : plainBody(media?.example),
  ]);
}

/** What the document can only say in words needs no block of its own. */
function plainBody(example: unknown): string | undefined {
  return typeof example === 'string' && example.includes('\n') ? fence('', example) : undefined;
}

const isOnEveryResponse = (header: string) => /^(X-)?RateLimit|^X-Request-Id$/.test(header);

function errorsOf(operation: Operation): string[] {
  return answersOf(operation).flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}));
}

function errorLine(operation: Operation): string {
  const all = errorsOf(operation);
  if (!inRooms.includes(operation)) return `[Errors](#error-codes): ${list(all)}.`;
  const own = all.filter((code) => !sharedErrors.includes(code));
  const shared = `[those of every request to a room](#${anchor(roomsHeading)})`;
  return `[Errors](#error-codes): ${own.length === 0 ? '' : `${list(own)}, and `}${shared}.`;
}

function list(codes: readonly string[]): string {
  return codes.map((code) => `\`${document.components.examples[code]?.['x-status']} ${code}\``).join(', ');
}

function forBrowsers(): string {
  const rest = entries.filter((entry) => !shown.includes(entry));
  const rows = rest.map(({ method, path, operation }) => [`\`${method} ${path}\``, operation.description]);
  return paragraphs([
    '## For browsers',
    'Browsers request these endpoints; programs do not need them:',
    table(['endpoint', ''], rows),
  ]);
}

function errorCodes(): string {
  const rows = Object.entries(document.components.examples).map(([code, example]) => {
    return [`\`${code}\``, String(example['x-status']), example.summary];
  });
  return paragraphs(['## Error codes', table(['code', 'status', 'meaning'], rows)]);
}

function rateHeaders(): string {
  const named = Object.entries(document.components.headers).filter(
    ([name]) => isOnEveryResponse(name) || name === 'Retry-After',
  );
  const rows = named.map(([name, { description, example }]) => [`\`${name}\``, `\`${example}\``, description]);
  return paragraphs([
    '## Rate headers',
    'On every response, but for `Retry-After`, which stands where waiting helps (`429`, `503`).',
    table(['header', 'such as', ''], rows),
  ]);
}
