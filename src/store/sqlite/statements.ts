/** Prepared statements of one connection. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Without `run`, which returns the id of the last row and throws if it does not fit into a JavaScript number. */
export type Sql = (query: string) => Pick<StatementSync, 'get' | 'all' | 'iterate' | 'setReturnArrays'>;

/** Prepares statements on first use and keeps them. The number of queries is fixed. */
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
