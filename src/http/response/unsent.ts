/** Responses that clients do not read stay in memory, so they count against the memory budget. */
import type { ServerResponse } from 'node:http';
import { noteDropped } from '../../core/garbage.ts';
import type { MemoryBudget } from '../../core/memory-budget.ts';
import type { ClientId } from '../../core/ports.ts';
import type { Reply } from './reply.ts';

/** Smaller ones are not counted: a connection has only one response at a time. */
const countedFrom = 16 * 1024;

/** Whether the response may be sent. Streams are not buffered. */
export function holdUnsent(memory: MemoryBudget, client: ClientId, reply: Reply, response: ServerResponse): boolean {
  const body = ownBody(reply);
  if (body === undefined || body.length < countedFrom) return true;
  const bytes = Buffer.byteLength(body);
  if (!memory.take(client, bytes)) {
    noteDropped(bytes);
    return false;
  }
  response.once('close', () => memory.release(client, bytes));
  return true;
}

function ownBody({ body, isOwnBody }: Reply): string | Uint8Array | undefined {
  if (typeof body === 'string') return body;
  return isOwnBody && body instanceof Uint8Array ? body : undefined;
}
