/** The one stretch in which two texts differ. */
import { commonEdges } from '../../room/common-edges.ts';

export interface TextChange {
  from: number;
  to: number;
  text: string;
}

export function changeBetween(before: string, after: string): TextChange | undefined {
  if (before === after) return undefined;
  const { start, end } = commonEdges(before, after);
  return { from: start, to: before.length - end, text: after.slice(start, after.length - end) };
}
