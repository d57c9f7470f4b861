/** Requests of the command line to this server, which it writes into the database. */
import type { DatabaseSync } from 'node:sqlite';
import type { OperatorInbox, OperatorRequest } from '../../core/ports.ts';
import type { Writer } from './writer.ts';

export function createOperatorInbox(db: DatabaseSync, writer: Writer): OperatorInbox {
  const unanswered = db.prepare('SELECT id, request FROM operator_requests WHERE answer IS NULL ORDER BY id');
  return {
    async unanswered() {
      const rows = unanswered.all();
      return rows.map(({ id, request }) => ({
        id: Number(id),
        request: JSON.parse(String(request)) as OperatorRequest,
      }));
    },
    answer: (id, answer) => writer.run('answerRequest', id, JSON.stringify(answer)),
  };
}
