/** Compares two clocks. Clocks that differ make rooms expire too early or too late. */
import { type Finding, forCheck, ok, warning } from './finding.ts';

const toleratedMs = 3000;

export interface ClockReading {
  theirs: number;
  /** The local time before the request and after the response. */
  before: number;
  after: number;
}

export function clockFinding(other: string, { theirs, before, after }: ClockReading): Finding {
  const aheadMs = theirs - (before + after) / 2;
  if (theirs > before - toleratedMs && theirs < after + toleratedMs) {
    return forCheck('clock', ok(`The clock of ${other} agrees with the local one.`));
  }
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const found = `The clock of ${other} is ${seconds} seconds ${aheadMs > 0 ? 'ahead of' : 'behind'} the local one.`;
  return forCheck('clock', warning(found, 'Synchronize both with NTP, for example with chrony or systemd-timesyncd.'));
}
