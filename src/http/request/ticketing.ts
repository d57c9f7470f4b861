/** Requests with a ticket: reads it from the query, and decides which of them do not count as a request. */
import type { ClientId, Clock } from '../../core/ports.ts';
import { createTickets } from '../../core/tokens.ts';
import type { Query } from './request.ts';
import { TokenBudget } from './token-budget.ts';

export interface Ticketing {
  /** The ticket in a query, if it is genuine and belongs to a room with this code. */
  ticketIn(query: Query, roomId: string): string | undefined;
  /** Whether this client may make one more request without using its limit. Counts it. */
  take(client: ClientId): boolean;
}

export function createTicketing(secret: string, clock: Clock): Ticketing {
  const tickets = createTickets(secret, clock);
  const budget = new TokenBudget();
  return {
    ticketIn(query, roomId) {
      const ticket = query.get('ticket');
      return ticket !== null && tickets.isGenuine(ticket, roomId) ? ticket : undefined;
    },
    take: (client) => budget.take(client, performance.now()),
  };
}
