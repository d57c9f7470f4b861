/** Responses that clients do not read stay in memory, and their files stay open, so they count against the budgets. */
import type { ServerResponse } from 'node:http';
import { noteDropped } from '../../core/defence/garbage.ts';
import type { TransferBudget } from '../../core/defence/transfer-budget.ts';
import { descriptorsOf, sentBytes } from '../connections.ts';
import { overloaded } from '../request/body.ts';
import type { Request } from '../request/request.ts';
import type { Reply } from './reply.ts';

/** Smaller ones are not counted: a connection has only one response at a time. */
const countedFrom = 16 * 1024;
/** The memory of a stream while it is sent: its connection, the chunk that is being sent and the next one. */
export const bytesPerStream = 256 * 1024;

type Unsent = Pick<Request, 'client' | 'response'>;

/** Whether the budget has room for these bytes. They are released when the response has been sent or aborted. */
export function holdUntilSent({ client, response }: Unsent, budget: TransferBudget, bytes: number): boolean {
  const { socket } = response;
  const transfer = budget.start({ client, progress: () => sentBytes(socket), end: () => response.destroy() });
  if (!transfer.take(bytes)) return refuse(response);
  // If the client is gone, there is no further event.
  if (response.destroyed) transfer.close();
  else response.once('close', () => transfer.close());
  return true;
}

/** Whether a response in memory may be sent. Handlers count streams themselves, before they open a file. */
export function holdUnsent(request: Unsent, budget: TransferBudget, reply: Reply): boolean {
  const body = ownBody(reply);
  if (body === undefined || body.length < countedFrom) return true;
  const bytes = Buffer.byteLength(body);
  if (holdUntilSent(request, budget, bytes)) return true;
  noteDropped(bytes);
  return false;
}

/** Call this before a file is opened for the request. A connection has one open file at a time. */
export function holdFile({ raw, response }: Pick<Request, 'raw' | 'response'>): void {
  const descriptors = descriptorsOf(raw.socket);
  if (!descriptors || response.destroyed) return;
  if (!descriptors.take(1)) {
    refuse(response);
    throw overloaded();
  }
  response.once('close', () => descriptors.release(1));
}

/** The connection ends with the error. Thousands of refused requests would otherwise leave idle connections. */
function refuse(response: ServerResponse): false {
  response.shouldKeepAlive = false;
  return false;
}

function ownBody({ body, isOwnBody }: Reply): string | Uint8Array | undefined {
  if (typeof body === 'string') return body;
  return isOwnBody && body instanceof Uint8Array ? body : undefined;
}
