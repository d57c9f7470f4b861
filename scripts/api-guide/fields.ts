/** The parameters and body fields of an operation, and the fields of a live message. */
import { table } from '../markdown.ts';
import { type OpenApiDocument, type Operation, resolveRef } from '../openapi/document.ts';

export interface Field {
  name: string;
  /** `path`, `query`, `header`, `body` or `form`. */
  where: string;
  required: boolean;
  description: string;
  example: string | undefined;
}

export function fieldsOf(document: OpenApiDocument, { parameters = [], requestBody }: Operation): Field[] {
  const sent = parameters.map((parameter) => {
    const { name, in: where, required, description, example } = resolveRef(document, parameter);
    return { name, where, required, description, example: shown(example) };
  });
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {};
  return [...sent, ...bodyFields(document, json?.schema, 'body'), ...bodyFields(document, form?.schema, 'form')];
}

/** Without `type`, which is the name of the message, and without examples, which the sample of the message shows. */
export function messageFields({ required = [], properties = {} }: BodySchema): Field[] {
  const own = Object.entries(properties).filter(([name]) => name !== 'type');
  return own.map(([name, { description = '' }]) => ({
    name,
    where: required.includes(name) ? 'required' : 'optional',
    required: false,
    description: sentence(description),
    example: undefined,
  }));
}

export interface BodySchema {
  required?: readonly string[];
  properties?: Record<string, { type?: unknown; description?: string; examples?: readonly unknown[] }>;
}

function bodyFields(document: OpenApiDocument, schema: object | undefined, where: string): Field[] {
  const { required = [], properties = {} } = schema ? resolveRef<BodySchema>(document, schema) : {};
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', examples } = resolveRef(document, property);
    return {
      name,
      where,
      required: required.includes(name),
      description: sentence(description),
      example: shown(examples?.[0]),
    };
  });
}

/** A single line of text is shown as it is, other values as JSON. */
function shown(example: unknown): string | undefined {
  if (example === undefined) return undefined;
  return typeof example === 'string' && !/\p{Cc}/u.test(example) ? example : JSON.stringify(example);
}

/** Descriptions in schemas are fragments, because error messages include them. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function fieldTable(head: readonly string[], fields: readonly Field[]): string {
  const rows = fields.map(({ name, where, required, description, example }) => {
    const isShown = example === undefined || description.includes(example);
    return [
      `\`${name}\``,
      required ? `${where}, required` : where,
      isShown ? description : `${description} Example: \`${example}\`.`,
    ];
  });
  return table(head, rows);
}
