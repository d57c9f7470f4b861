/** Requests of an operator. */
import type { RequestOptions } from './api.ts';
import type { TestServer } from './server.ts';

export const adminToken = 'a token that only operators have';
export const adminEnv = { POPROOM_ADMIN_TOKEN: adminToken };
/** The settings of a server on which rooms can be reported. */
export const reportsEnv = { ...adminEnv, POPROOM_ABUSE_CONTACT: 'abuse@example.org' };
/** A documentation address that tests do not block. */
const operator = '192.0.2.1';

/** Sends requests with the token, from an address of its own. Keeps all responses in `seen`. */
export function adminOf({ api }: Pick<TestServer, 'api'>) {
  const seen: string[] = [];

  async function call(method: string, path: string, options: RequestOptions = {}) {
    const headers = { authorization: `Bearer ${adminToken}` };
    const response = await api.call(method, `/api/admin${path}`, { from: operator, headers, ...options });
    seen.push(response.text);
    return response;
  }

  return {
    seen,
    get: (path: string, options?: RequestOptions) => call('GET', path, options),
    post: (path: string, json: object = {}, options: RequestOptions = {}) => call('POST', path, { json, ...options }),
    delete: (path: string) => call('DELETE', path),
  };
}

/** The code of a room as the server shows it to operators. */
export const masked = (code: string): string => `${code.slice(0, 2)}${'*'.repeat(code.length - 2)}`;
