/** Limits that are not configurable, and rules built from them and the settings. */

import { deviceColors } from '../protocol/limits.ts';
import { invalidField } from './errors.ts';
import type { ReportLimits } from './ports/admin.ts';
import { type Quota, rateWindowMs, type Tier } from './ports/clients.ts';
import type { GuardRules } from './ports/rooms.ts';

const second = 1000;
const hour = 3600 * second;

const shortestLifetimeSeconds = 60;
/** How long the bytes of an upload stay reserved if its node crashes. A running upload extends this. */
export const uploadDeadlineMs = 15 * 60 * second;
/** How long an upload in several requests may be unfinished. */
export const unfinishedUploadMs = 24 * hour;
/** How long a removed file can be restored. */
export const restorableMs = 60 * second;
/** How long a one-time file is reserved for its receiver. */
export const claimMs = 30 * 60 * second;
const rememberExpiredMs = 24 * hour;

export function guardRules(missesPerClient: number, devicesPerRoom = 100): GuardRules {
  return {
    triesBeforeLock: 5,
    firstLockMs: 30 * second,
    longestLockMs: hour,
    wrongPinsPerRoom: 50,
    // One percent of all PINs.
    wrongPinsPerLife: 100,
    wrongPinsOfNewNetworks: 20,
    keyCountersPerRoom: 100,
    missesPerClient,
    windowMs: hour,
    countersPerWindow: 250_000,
    rememberExpiredMs,
    deviceSeenMs: 60 * second,
    // Nodes renew their channels and read those of others about every 13 seconds, so a lost channel is gone within 55
    // seconds. DEV-3 promises 60.
    channelSeenMs: 42 * second,
    devicesPerRoom,
    deviceColors,
  };
}

export const quotas = ({ free, pro }: Record<Tier, number>): Record<Tier, Quota> => ({
  free: { tier: 'free', limit: free, windowMs: rateWindowMs },
  pro: { tier: 'pro', limit: pro, windowMs: rateWindowMs },
});

/** Results of requests with idempotency keys: how long, and how many of each client and of all, are kept. */
export const idempotencyLimits = { keptMs: 24 * hour, perClient: 500, inTotal: 100_000 };

/** Reports of rooms: strangers send them, so few are kept. */
export const reportLimits: ReportLimits = { perRoom: 20, perClient: 10, inTotal: 500, keptMs: 30 * 24 * hour };

export function checkLifetime(seconds: number, longest: number): void {
  if (Number.isInteger(seconds) && seconds >= shortestLifetimeSeconds && seconds <= longest) return;
  const message = `"expiresIn" must be a whole number of seconds from ${shortestLifetimeSeconds} to ${longest}.`;
  throw invalidField('expiresIn', message, { minimum: shortestLifetimeSeconds, maximum: longest });
}
