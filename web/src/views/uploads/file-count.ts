/** Refuses files that are too many for the room or for the request limit. */
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/all-strings.ts';
import { roughTime } from '../../i18n/quantities.ts';
import { requestLimit } from '../../room/request-limit.ts';
import type { RoomModel } from '../../room/room.ts';
import { spaceLeft } from '../../room/space.ts';

/** More refused files than this would hide the others in the list. */
const maxRefused = 20;

/** Notifies the user if so. */
export function areTooMany(room: RoomModel, added: number): boolean {
  const left = Math.max(0, spaceLeft(room.content.value, room.uploads.list.value).files);
  const isRefused = added > left + maxRefused;
  if (isRefused) notify(t('tooManyFiles', { n: left }));
  return isRefused || exceedsRequests(room, added);
}

/** Notifies the user if so: each file needs a request, and half of the files would be missing on the other devices. */
function exceedsRequests(room: RoomModel, added: number): boolean {
  const { remaining = added, resetAt } = requestLimit.value ?? {};
  const ms = (resetAt?.getTime() ?? 0) - Date.now();
  const waiting = room.uploads.list.value.filter(({ state }) => state.value.name === 'waiting').length;
  const n = Math.max(0, remaining - waiting);
  if (added < 2 || added <= n || ms <= 0) return false;
  const time = roughTime(ms);
  notify(n === 0 ? t('limitFiles', { time }) : t('filesExceedLimit', { n, time }));
  return true;
}
