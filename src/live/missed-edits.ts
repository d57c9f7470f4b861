/** The edits that a reconnecting client has missed, if the log still has them. */
import type { JoinRequest } from '../core/live-gateway.ts';
import type { TextEntry } from '../core/ports.ts';
import type { Texts } from '../core/text/texts.ts';
import { toTimestamp } from '../core/timestamp.ts';
import type { RoomFeed } from './room-feed.ts';

/** The edits since the client's version; undefined if the log does not lead from there to the view. */
export async function missedEdits(
  texts: Pick<Texts, 'since'>,
  feed: RoomFeed,
  { version, timestamp }: JoinRequest,
): Promise<readonly TextEntry[] | undefined> {
  if (version === undefined) return undefined;
  const { text } = feed.view;
  const isCurrent = version === text.version && (timestamp === undefined || timestamp === toTimestamp(text.writtenAt));
  if (isCurrent) return [];
  if (version === 0) return readable(feed, await texts.since(feed.code, 0));
  // Starts one version earlier, whose entry shows whether the client has the same text: a server that lost its newest
  // changes assigns their versions again.
  const [own, ...missed] = (await texts.since(feed.code, version - 1)) ?? [];
  const isSame = own && (timestamp === undefined || timestamp === toTimestamp(own.writtenAt));
  return isSame ? readable(feed, missed) : undefined;
}

/** Undefined if one of the entries replaced a sealed text, because it does not contain it. */
function readable({ view }: RoomFeed, entries: readonly TextEntry[] | undefined): readonly TextEntry[] | undefined {
  const isReadable = !view.text.sealed || entries?.every(({ sealed }) => sealed !== undefined);
  return isReadable ? entries : undefined;
}

/** Extends or cuts the missed entries to the current view, which may have changed while the log was read. */
export function upTo({ text }: RoomFeed['view'], version: number, missed: readonly TextEntry[] | undefined) {
  const reached = version + (missed?.length ?? 0);
  if (reached >= text.version) return missed?.slice(0, Math.max(0, text.version - version));
  const rest = missed && text.since(reached);
  return rest && [...missed, ...rest];
}
