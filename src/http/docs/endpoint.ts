/** One endpoint on the docs page: description and parameters beside sample requests and responses. */

import { type Example, follow, type OpenApiDocument, type Operation, type Response } from '../openapi/document.ts';
import { code, jsonCode } from './code.ts';
import { curlCommands } from './curl.ts';
import { type Field, fieldsOf } from './fields.ts';
import { type Html, html } from './html.ts';
import { inline } from './markdown.ts';

export interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

export function endpointArticle(document: OpenApiDocument, { method, path, operation }: Entry): Html {
  const answers = Object.entries(operation.responses).map(([status, answer]) => ({
    status,
    ...follow(document, answer),
  }));
  return html`<article id="${operation.operationId}">
<div class="words">
<h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></p>
<p>${inline(operation.description)}</p>
${fieldTable(fieldsOf(document, operation))}
${errorTable(answers.flatMap((answer) => errorsOf(document, answer)))}
</div>
<div class="samples">
${curlCommands(document, method, path, operation).map(({ title, text }) => sample(html`${title}`, 'sh', html`${text}`))}
${bodySample(operation)}
${answers.filter((answer) => !isError(answer)).map((answer) => answerSample(document, answer))}
</div>
</article>`;
}

/** Lets a long path wrap at its slashes. */
function breakable(path: string): Html[] {
  return path.split(/(?=\/)/).map((segment) => html`${segment}<wbr>`);
}

function fieldTable(fields: readonly Field[]): Html | undefined {
  if (fields.length === 0) return undefined;
  return html`<table class="fields">
<caption>Parameters</caption>
<tbody>${fields.map(fieldRow)}</tbody>
</table>`;
}

function fieldRow({ name, where, required, description, example }: Field): Html {
  return html`<tr>
<th scope="row"><code>${name}</code><span>${where}${required ? html`, <b>required</b>` : undefined}</span></th>
<td>${inline(description)}${exampleNote(example, description)}</td>
</tr>`;
}

function exampleNote(example: string | undefined, description: string): Html | undefined {
  if (example === undefined || description.includes(example)) return undefined;
  return html`<span class="example">Example: <code>${example}</code></span>`;
}

interface ErrorRow {
  status: string;
  code: string;
  meaning: string;
}

const isError = ({ content }: Response) => content?.['application/json']?.examples !== undefined;

function errorsOf(document: OpenApiDocument, { status, content }: Response & { status: string }): ErrorRow[] {
  return Object.entries(content?.['application/json']?.examples ?? {}).map(([code, example]) => {
    return { status, code, meaning: follow<Example>(document, example).summary };
  });
}

function errorTable(rows: readonly ErrorRow[]): Html {
  return html`<details class="errors">
<summary>Errors <span>${rows.length}</span></summary>
<table><tbody>${rows.map(errorRow)}</tbody></table>
</details>`;
}

function errorRow({ status, code, meaning }: ErrorRow): Html {
  return html`<tr>
<td class="status">${status}</td>
<td><a href="#error-${code}"><code>${code}</code></a><br>${meaning}</td>
</tr>`;
}

function bodySample({ requestBody }: Operation): Html | undefined {
  const json = requestBody?.content['application/json'];
  return (
    json && sample(html`Body${requestBody.required ? '' : ', optional'}`, 'answer', html`${jsonCode(json.example)}`)
  );
}

function answerSample(document: OpenApiDocument, answer: Response & { status: string }): Html {
  const title = html`<b class="status">${answer.status}</b> ${inline(answer.description)}`;
  const [type, media] = Object.entries(answer.content ?? {})[0] ?? [];
  const body = type === 'application/json' ? jsonCode(media?.example) : [html`${(media?.example ?? '') as string}`];
  return sample(title, 'answer', html`${headerLines(document, answer)}${body}`);
}

/** The headers that are specific to this response. */
function headerLines(document: OpenApiDocument, { headers, content }: Response): Html[] {
  const own = Object.entries(headers).filter(([name]) => !/^(X-)?RateLimit|^X-Request-Id$/.test(name));
  const lines = own.map(([name, header]) => `${name}: ${follow(document, header).example}\n`);
  return code('http', lines.length > 0 && content ? `${lines.join('')}\n` : lines.join(''));
}

function sample(title: Html, kind: string, text: Html): Html {
  return html`<figure>
<figcaption>${title}</figcaption>
<pre class="${kind}" tabindex="0"><code>${text}</code></pre>
</figure>`;
}
