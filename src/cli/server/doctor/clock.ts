/** Whether two clocks agree: by those of the nodes it is decided when a room expires. */
import { about, type Finding, ok, warning } from './finding.ts';

const toleratedMs = 3000;

export interface ClockReading {
  theirs: number;
  /** What the clock here said when they were asked, and when they had answered. */
  before: number;
  after: number;
}

export function clockFinding(whose: string, { theirs, before, after }: ClockReading): Finding {
  const aheadMs = theirs - (before + after) / 2;
  if (theirs > before - toleratedMs && theirs < after + toleratedMs) {
    return about('clock', ok(`The clock of ${whose} agrees with the one here.`));
  }
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const what = `The clock of ${whose} is ${seconds} seconds ${aheadMs > 0 ? 'ahead of' : 'behind'} the one here.`;
  return about('clock', warning(what, 'Set both by NTP, such as with chrony or systemd-timesyncd.'));
}
