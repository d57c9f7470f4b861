/** The operations behind the admin endpoints. They exist only if there is an admin token. */
import type { IncomingMessage } from 'node:http';
import type { Admin } from '../../core/admin/admin.ts';
import type { Clock, Log } from '../../core/ports.ts';
import type { CheckToken } from './token.ts';

export interface AdminService {
  admin: Admin;
  checkToken: CheckToken;
  /** The full address of the client. */
  addressOf(raw: IncomingMessage): string;
  clock: Clock;
  log: Log;
}
