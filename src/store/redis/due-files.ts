/** Files of all rooms that a sweep has to drop: removed ones by time, unfinished ones by expiry. */
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';

export interface DueFile {
  code: RoomCode;
  fileId: string;
}

/** Neither contains a space. */
export const dueMember = (code: RoomCode, fileId: string): string => `${code} ${fileId}`;

/** Up to `limit` files of the sorted sets with a score up to `max`. */
export async function dueFiles(redis: Redis, sets: string[], max: string, limit: number): Promise<DueFile[]> {
  const dueIn = (key: string) => redis.send(key, ['ZRANGEBYSCORE', key, '-inf', max, 'LIMIT', '0', String(limit)]);
  const members = (await Promise.all(sets.map(dueIn))) as string[][];
  return members.flat().slice(0, limit).map(dueFileOf);
}

function dueFileOf(member: string): DueFile {
  const [code = '', fileId = ''] = member.split(' ');
  return { code: code as RoomCode, fileId };
}
