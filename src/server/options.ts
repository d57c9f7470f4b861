/** Clocks, intervals and the page of a server, which tests replace. */
import type { Clock } from '../core/ports.ts';
import type { PageSource } from '../http/page/source.ts';
import { idleTimeoutSeconds } from '../http/server.ts';
import { eraseEveryMs } from '../store/sqlite/writer.ts';

/** A sweep interval and an erase interval together are less than 30 seconds. */
export const sweepEveryMs = 15_000;
export interface ServerOptions {
  clock: Clock;
  /** A monotonic clock in milliseconds, unaffected by changes of the system clock. */
  monotonic: Clock;
  heartbeatMs: number;
  /** A connection may be idle for this long. */
  idleTimeoutMs: number;
  sweepEveryMs: number;
  /** How often deleted text is erased from the files of the embedded engine. */
  eraseEveryMs: number;
  /** Whether the PINs of stored rooms may become invalid. */
  acceptNewSecret: boolean;
  /** How often the files of the certificate are compared. */
  certificateCheckMs: number;
  /** How often a lost store is asked whether it responds again. */
  outageCheckMs: number;
  /** How often the store is asked whether it may evict rooms. */
  evictionCheckMs: number;
  /** How often blocks of addresses by other nodes are read, how many there may be, and how often activity is stored. */
  blockCheckMs: number;
  maxBlocks: number;
  activityReportMs: number;
  page: PageSource;
  /** The number of lost log lines, for the metrics. */
  lostLogLines: () => number;
}

export const defaultOptions: Omit<ServerOptions, 'page'> = {
  clock: Date.now,
  monotonic: () => performance.now(),
  heartbeatMs: 25_000,
  idleTimeoutMs: idleTimeoutSeconds * 1000,
  sweepEveryMs,
  eraseEveryMs,
  acceptNewSecret: false,
  certificateCheckMs: 10_000,
  outageCheckMs: 1000,
  evictionCheckMs: 60_000,
  blockCheckMs: 2000,
  maxBlocks: 500,
  activityReportMs: 5000,
  lostLogLines: () => 0,
};
