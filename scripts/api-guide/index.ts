/** docs/api.md and /docs: the API as a guide for developers, with requests to copy for each endpoint. */
import { fillPhrases } from '../../src/http/page/server-limits.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { type ErrorCode, errorCodes as meanings } from '../../src/protocol/error-codes.ts';
import { defaultPhrases } from '../default-limits.ts';
import { alignTables, anchor, fence, paragraphs, sections, table } from '../markdown.ts';
import { errorExamples } from '../openapi/error-examples.ts';
import { endpointChapters, requests } from './endpoints.ts';
import { limitsChapter } from './limits.ts';
import { liveChapters } from './live.ts';
import { document, isOnEveryResponse } from './operations.ts';
import { cliStart, sdkStart, withPin } from './snippets.ts';

/** docs/api.md, with the default limits. */
export function apiGuide(): string {
  const notice = '<!-- Written by "npm run generate" from src/protocol, scripts/openapi and scripts/api-guide. -->';
  return alignTables(fillPhrases(guide(notice, aboutTheExamples), defaultPhrases));
}

/** The same guide for /docs, with limits as `{{textSize}}`. */
export function apiGuideTemplate(): string {
  return guide(undefined, aboutThisServer);
}

const aboutTheExamples = `The examples use a server at \`http://localhost:8080\` and a room with the code \`7KQ2MX\`. Replace both with yours. \
Tests run every example as it is printed here. Your own server has the same documentation at \`/docs\`, with its own URL and limits. The machine-readable versions are \
at \`/api/openapi.json\` and \`/api/asyncapi.json\`. [spec.md](spec.md) lists the guarantees of the API, rule by rule.`;

const aboutThisServer = `The examples use the server at http://localhost:8080 and a room with the code \`7KQ2MX\`. Replace both if yours differ. The limits on this \
page are those of this server. For programs, the API is described at [/api/openapi.json](/api/openapi.json) and \
[/api/asyncapi.json](/api/asyncapi.json). Documents such as \`docs/sdk.md\` are in the repository of Poproom.`;

function guide(notice: string | undefined, about: string): string {
  const { lead, rest } = sections(document.info.description);
  return `${paragraphs([
    '# The API',
    notice,
    lead,
    about,
    ...rest.flatMap(({ title, body }) => [`## ${title}`, body.trim(), ...(additions[title] ?? [])]),
    ...endpointChapters(),
    ...liveChapters(),
    errorCodes(),
    rateHeaders(),
  ])}\n`;
}

/** Printed after a chapter of the description. */
const additions: Record<string, readonly string[]> = {
  'Quick start': [threeWays()],
  PIN: [...requests(withPin), versions()],
  'Rate limits': [limitsChapter()],
};

function threeWays(): string {
  return paragraphs([
    '## curl, SDK or command line',
    'curl needs no setup. The [SDK](sdk.md) examples start with these lines:',
    fence('js', sdkStart),
    'The [command-line](cli.md) examples need the URL of the server:',
    fence('sh', cliStart),
  ]);
}

function versions(): string {
  return `## Versions and conflicts

Each write creates the next version of the text. The content endpoints return it in \`ETag\`. A new room has version \`"0"\`.

- To change a part of the text or to append to it, [send edits](#${anchor(endpoints.editContent.summary)}). The server rebases edits of an \
older version over the newer ones, so that concurrent writers do not overwrite each other.
- To replace the whole text only if nobody else has changed it, send \`If-Match: "7"\`. If the text has another version by \
then, the server returns \`412 VERSION_CONFLICT\` with the current text and version in \`details\`. Merge both texts, and \
write again.
- To read the text only if it has changed, send \`If-None-Match: "7"\`. If the text is unchanged, the server returns \
\`304\`. This still counts as a request. With \`?wait=30\`, the server waits up to 30 seconds \
for a change, which is enough for a script. Other programs follow a room over [the live channel](#endpoints-live).`;
}

function errorCodes(): string {
  const all = Object.entries(meanings) as [ErrorCode, (typeof meanings)[ErrorCode]][];
  const rows = all.map(([code, [status, meaning]]) => [`\`${code}\``, String(status), meaning]);
  const detailed = all.flatMap(([code]) => {
    const { details } = errorExamples[code] as { details?: object };
    return details ? [[`\`${code}\``, `\`${JSON.stringify(details)}\``]] : [];
  });
  return paragraphs([
    '## Error codes',
    table(['code', 'status', 'meaning'], rows),
    'These errors have `details`:',
    table(['code', 'example of `details`'], detailed),
  ]);
}

function rateHeaders(): string {
  const named = Object.entries(document.components.headers).filter(
    ([name]) => isOnEveryResponse(name) || name === 'Retry-After',
  );
  const rows = named.map(([name, { description, example }]) => [`\`${name}\``, `\`${example}\``, description]);
  return paragraphs([
    '## Response headers',
    'Every response has these headers, except `Retry-After`. Every `429` and `503` response has it, and errors that tell you to wait.',
    table(['header', 'example', 'meaning'], rows),
  ]);
}
