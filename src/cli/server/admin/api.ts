/** Requests of `poproom admin`, with the admin token. */
import { PoproomError } from '../../../client/index.ts';
import { createRetry } from '../../../client/retry.ts';
import { createTimeouts } from '../../../client/silence-limit.ts';
import { createTransport } from '../../../client/transport.ts';
import type { Input } from '../../command.ts';
import { explainOffline } from '../../connection-error.ts';
import { readEnvironment } from '../../environment.ts';
import { askHidden } from '../../question.ts';
import { chooseNamedServer } from '../../server-choice.ts';
import { timeoutOf } from '../../timeout.ts';
import { UsageError } from '../../usage-error.ts';

export interface AdminApi {
  /** `fields` are those that the response must have. */
  get<T extends object>(path: string, fields: readonly (keyof T)[]): Promise<T>;
  send<T extends object>(
    method: 'POST' | 'DELETE',
    path: string,
    fields: readonly (keyof T)[],
    json?: object,
  ): Promise<T>;
}

export async function connectAdmin(input: Input): Promise<AdminApi> {
  const environment = readEnvironment();
  const url = chooseNamedServer(environment, input.value('url'));
  const token = environment.adminToken ?? (await askHidden(`Admin token of ${url}: `));
  if (!token) throw new UsageError('Set POPROOM_ADMIN_TOKEN to the admin token of the server.');
  const withRetry = createRetry({ attempts: 3, maxSeconds: 5 });
  const timeouts = createTimeouts(timeoutOf(input, environment) ?? 0);
  const transport = createTransport({ url, apiKey: token, withRetry, timeouts });

  async function call<T extends object>(
    method: string,
    path: string,
    fields: readonly (keyof T)[],
    json?: object,
  ): Promise<T> {
    const hasFields = (body: unknown): body is T =>
      typeof body === 'object' && body !== null && fields.every((field) => field in body);
    try {
      return await transport.call(`/api/admin${path}`, hasFields, { method, ...(json && { json }) });
    } catch (error) {
      throw error instanceof PoproomError ? explainError(error, transport.url) : error;
    }
  }

  return {
    get: (path, fields) => call('GET', path, fields),
    send: (method, path, fields, json) => call(method, path, fields, json),
  };
}

/** Without the token, a server has no such paths. */
function explainError(error: PoproomError, url: string): Error {
  if (error.code === 'OFFLINE') return explainOffline(error, url);
  const isMissing = error.code === 'NOT_FOUND' && error.message.startsWith('No endpoint');
  return isMissing
    ? new UsageError(`The admin interface of ${url} is disabled; set POPROOM_ADMIN_TOKEN for the server.`)
    : error;
}
