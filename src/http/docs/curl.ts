/** curl commands for an operation, with its example values. */
import { follow, type MediaType, type OpenApiDocument, type Operation, type Parameter } from '../openapi/document.ts';

export interface Command {
  title: string;
  text: string;
}

const base = 'http://localhost:8080';

/** One command for each way of sending the body. */
export function curlCommands(document: OpenApiDocument, method: string, path: string, operation: Operation): Command[] {
  const parameters = (operation.parameters ?? []).map((parameter) => follow(document, parameter));
  const start = ['curl', ...verb(method, operation), quote(base + withExamples(path, parameters))].join(' ');
  const command = (options: readonly string[]) =>
    [start, ...headersNamed(parameters, 'X-Room-Pin'), ...options].join(' \\\n  ');

  const bodies = method === 'post' ? Object.entries(operation.requestBody?.content ?? {}) : [];
  if (bodies.length === 0) return [{ title: 'Request', text: command([]) }];
  return bodies.map(([type, media]) => ({
    title: titles[type] ?? 'Request',
    text: command(bodyOptions(type, media, parameters)),
  }));
}

const titles: Record<string, string> = { 'multipart/form-data': 'Request, as a form', '*/*': 'Request, as raw bytes' };

/** Only file downloads are saved to disk, under their own name. */
function verb(method: string, { responses }: Operation): string[] {
  if (method !== 'get') return ['-X', method.toUpperCase()];
  return '206' in responses ? ['-O'] : [];
}

function withExamples(path: string, parameters: readonly Parameter[]): string {
  const examples = new Map(parameters.map(({ name, example }) => [name, example]));
  return path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(examples.get(name) ?? name));
}

function bodyOptions(type: string, { example }: MediaType, parameters: readonly Parameter[]): string[] {
  if (type === 'application/json') return [header('Content-Type', type), `-d ${quote(JSON.stringify(example))}`];
  if (type === 'multipart/form-data') return ['-F file=@photo.jpg'];
  return [header('Content-Type', 'text/plain'), ...headersNamed(parameters, 'X-File-Name'), '--data-binary @café.txt'];
}

function headersNamed(parameters: readonly Parameter[], wanted: string): string[] {
  return parameters.filter(({ name }) => name === wanted).map(({ name, example }) => header(name, example));
}

const header = (name: string, value: string) => `-H ${quote(`${name}: ${value}`)}`;

/** Quotes for a shell, if necessary. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
