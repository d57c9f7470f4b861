/** The endpoints in the API guide: parameters, requests to copy, responses and errors. */
import { linkRights, linkRoles } from '../../src/protocol/link-rights.ts';
import { anchor, fence, jsonFence, paragraphs, table } from '../markdown.ts';
import { type Operation, type Response, resolveRef } from '../openapi/document.ts';
import { type Field, fieldsOf, fieldTable } from './fields.ts';
import {
  apiEndpoints,
  document,
  type Endpoint,
  errorsOf,
  isOnEveryResponse,
  listErrors,
  pageEndpoints,
  responsesOf,
  type StatusResponse,
} from './operations.ts';
import { type Snippets, snippets } from './snippets.ts';

/** Operations on a room share parameters and errors, which are listed once. */
const roomOperations = apiEndpoints.flatMap(({ operation }) =>
  namesOf(operation).includes('X-Room-Pin') ? [operation] : [],
);
const sharedNames = intersection(roomOperations.map(namesOf));
const sharedErrors = intersection(roomOperations.map(errorsOf));
const fieldHead = ['name', 'in', 'description'];

export function endpointChapters(): string[] {
  return [
    overview(),
    roomRequests(),
    ...document.tags.flatMap(({ name, description }) => chapter(name, description)),
    browserEndpoints(),
  ];
}

export function requests({ curl, sdk, cli }: Snippets): string[] {
  return [curl && fence('sh', curl), sdk && fence('js', sdk), cli && fence('sh', cli)].filter(
    (text) => text !== undefined,
  );
}

function overview(): string {
  const rows = apiEndpoints.map(({ method, path, operation: { summary } }) => {
    return [`\`${method} ${path}\``, `[${summary}](#${anchor(summary)})`];
  });
  return paragraphs(['## Endpoints', table(['endpoint', 'purpose'], rows)]);
}

function roomRequests(): string {
  return paragraphs([
    '## Room requests',
    'Every request to a room accepts these parameters:',
    fieldTable(fieldHead, fieldsOf(document, roomOperations[0] as Operation).filter(isShared)),
    `Every request to a room can return these errors: ${listErrors(sharedErrors)}.`,
    'In place of the room code, requests also accept the id of a [link with a role](#create-a-link-with-a-role), which has fewer rights:',
    linkTable(),
  ]);
}

function linkTable(): string {
  const rows = Object.values(linkRights).map(({ description, roles }) => [
    description,
    'yes',
    ...linkRoles.map((role) => ((roles as readonly string[]).includes(role) ? 'yes' : '')),
  ]);
  return table(['', 'room code', 'read link', 'drop link'], rows);
}

function chapter(tag: string, description: string): string[] {
  const tagged = apiEndpoints.filter(({ operation }) => operation.tags.includes(tag));
  if (tagged.length === 0) return [];
  return [`## Endpoints: ${tag.toLowerCase()}`, description, ...tagged.map(endpoint)];
}

function endpoint({ method, path, operation }: Endpoint): string {
  const { summary, operationId, description } = operation;
  const shown: Snippets = snippets[operationId as keyof typeof snippets];
  return paragraphs([
    `### ${summary}`,
    `<!-- ${operationId} -->`,
    `\`${method} ${path}\``,
    description,
    parameters(operation),
    ...requests(shown),
    shown.note,
    ...responsesOf(operation).filter(isSuccess).map(responseSection),
    errorLine(operation),
  ]);
}

function parameters(operation: Operation): string | undefined {
  const all = fieldsOf(document, operation);
  if (!roomOperations.includes(operation)) return all.length === 0 ? undefined : fieldTable(fieldHead, all);
  const own = all.filter((field) => !isShared(field));
  const shared = '[parameters of all room requests](#room-requests)';
  if (own.length === 0) return `Accepts the ${shared}.`;
  return paragraphs([`In addition to the ${shared}:`, fieldTable(fieldHead, own)]);
}

/** A body field with the name of a shared parameter belongs to the endpoint. */
const isShared = ({ name, where }: Field) => sharedNames.includes(name) && where !== 'body' && where !== 'form';

function namesOf({ parameters = [] }: Operation): string[] {
  return parameters.map((parameter) => resolveRef(document, parameter).name);
}

function intersection(lists: readonly (readonly string[])[]): string[] {
  return (lists[0] ?? []).filter((item) => lists.every((list) => list.includes(item)));
}

function isSuccess({ content }: Response): boolean {
  return content?.['application/json']?.examples === undefined;
}

function responseSection({ status, description, headers, content }: StatusResponse): string {
  const own = Object.entries(headers).filter(([name]) => !isOnEveryResponse(name));
  const lines = own.map(([name, header]) => `\`${name}: ${resolveRef(document, header).example}\``);
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  return paragraphs([
    `**${status}** ${description}${lines.length > 0 ? ` With ${lines.join(', ')}.` : ''}`,
    type === 'application/json' ? jsonFence(media?.example) : plainBody(media?.example),
  ]);
}

/** A placeholder such as `(the bytes)` needs no block. */
function plainBody(example: unknown): string | undefined {
  return typeof example === 'string' && example.includes('\n') ? fence('', example) : undefined;
}

function errorLine(operation: Operation): string {
  const all = errorsOf(operation);
  if (!roomOperations.includes(operation)) return `[Errors](#error-codes): ${listErrors(all)}.`;
  const own = all.filter((code) => !sharedErrors.includes(code));
  const shared = '[errors of all room requests](#room-requests)';
  return own.length === 0
    ? `Can return the ${shared}.`
    : `[Errors](#error-codes): ${listErrors(own)}, and the ${shared}.`;
}

function browserEndpoints(): string {
  const rows = pageEndpoints.map(({ method, path, operation }) => [`\`${method} ${path}\``, operation.description]);
  return paragraphs([
    '## Endpoints: page',
    'Browsers request these endpoints. Programs do not need them.',
    table(['endpoint', 'description'], rows),
  ]);
}
