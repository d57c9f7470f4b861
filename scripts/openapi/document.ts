/** The part of OpenAPI 3.1 that our document uses. */
import type { ServerLimits } from '../../src/http/page/server-limits.ts';

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; summary: string; description: string; contact: object; license: object };
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  /** By path, then by lowercase method. */
  paths: Record<string, Record<string, Operation>>;
  components: Components;
  /** The server replaces these defaults with its own limits. */
  'x-limits': ServerLimits;
}

interface Components {
  schemas: Record<string, object>;
  responses: Record<string, Response>;
  parameters: Record<string, Parameter>;
  examples: Record<string, Example>;
  headers: Record<string, Header>;
  securitySchemes: Record<string, object>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  /** The roles of links that may use it, besides members. Missing if it is not about one room. */
  'x-link-roles'?: readonly string[];
  security?: Record<string, string[]>[];
  parameters?: OrRef<Parameter>[];
  requestBody?: RequestBody;
  responses: Record<string, OrRef<Response>>;
}

export interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: object;
  example: string;
}

export interface RequestBody {
  description?: string;
  required: boolean;
  content: Record<string, MediaType>;
}

export interface Response {
  description: string;
  headers: Record<string, OrRef<Header>>;
  content?: Record<string, MediaType>;
}

export interface MediaType {
  schema: object;
  example?: unknown;
  examples?: Record<string, OrRef<Example>>;
}

export interface Example {
  summary: string;
  value: unknown;
  'x-status': number;
}

export interface Header {
  description: string;
  schema: object;
  example: unknown;
}

export interface Ref {
  $ref: string;
}

export type OrRef<T> = T | Ref;

/** Resolves a reference within the document. Other values are returned unchanged. */
export function resolveRef<T extends object>(document: OpenApiDocument, value: OrRef<T>): T {
  if (!('$ref' in value)) return value;
  const path = value.$ref.slice(2).split('/');
  return path.reduce((at: unknown, key) => (at as Record<string, unknown>)[key], document) as T;
}
