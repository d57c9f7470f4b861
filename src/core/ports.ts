/**
 * The interfaces of external systems: stores, files, events, time.
 *
 * Every method is one atomic step of its driver (one SQLite transaction, one Redis script), so core needs no locks.
 * Where core reads before it writes, as for text edits, the store rejects the write if the text has changed since.
 * Times are milliseconds since the epoch and always come from the caller's clock.
 */
export * from './ports/admin.ts';
export * from './ports/archive.ts';
export * from './ports/basics.ts';
export * from './ports/blobs.ts';
export * from './ports/clients.ts';
export * from './ports/files.ts';
export * from './ports/idempotency.ts';
export * from './ports/rooms.ts';
export * from './ports/store.ts';
export * from './ports/texts.ts';
