/** Prepared statements of one connection. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Without `run`: it returns the id of the last row, and throws where that is larger than a JavaScript number. */
export type Sql = (query: string) => Pick<StatementSync, 'get' | 'all' | 'setReturnArrays'>;

/** Statements are prepared on first use and kept: their number is that of the queries in this engine. */
export function prepareOnce(db: DatabaseSync): Sql {
  const prepared = new Map<string, StatementSync>();
  return (query) => {
    const known = prepared.get(query);
    if (known) return known;
    const statement = db.prepare(query);
    prepared.set(query, statement);
    return statement;
  };
}
