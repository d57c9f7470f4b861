/** The room as the holder of a read link sees it: no code, no PIN, no ids of devices. */

import type { CoreDeps } from '../core/deps.ts';
import { aliasFor, tokenRoomOf } from '../core/links.ts';
import type { StoredLink } from '../core/ports/links.ts';
import { toTimestamp } from '../core/timestamp.ts';
import type { RoomTokens } from '../core/tokens.ts';
import type { RoomText } from '../protocol/types.ts';
import type { Change } from './room-view.ts';

export type LinkView = ReturnType<typeof createLinkView>;

/** `own` is the device of the session: its id for members, and the one that the client chose. */
export function createLinkView(
  core: CoreDeps,
  tokens: RoomTokens,
  link: StoredLink,
  own: Record<'id' | 'given', string>,
) {
  const alias = aliasFor(core, link.id);
  const aliasOf = (deviceId: string) => (deviceId === own.id ? own.given : alias(deviceId));
  let lastRoom: string | undefined;

  const expiryOf = (roomExpiresAt: string) =>
    link.expiresAt === undefined || Date.parse(roomExpiresAt) <= link.expiresAt
      ? roomExpiresAt
      : toTimestamp(link.expiresAt);
  const resumeToken = () => tokens.issue(tokenRoomOf(link)).token;

  /** Missing fields stay missing. */
  function withAlias<T extends { deviceId?: string }>(value: T): T {
    return value.deviceId === undefined ? value : { ...value, deviceId: aliasOf(value.deviceId) };
  }

  /** A `ref` is for the device that sent it. */
  function edit<T extends { deviceId?: string; ref?: string }>(message: T): T {
    const { ref, ...seen } = withAlias(message);
    return seen as T;
  }

  function text<T extends RoomText>(content: T): T {
    const { lastRefs, sealedEdits } = content;
    return {
      ...content,
      ...(lastRefs && { lastRefs: [] }),
      ...(sealedEdits && { sealedEdits: sealedEdits.map(edit) }),
    };
  }

  /** The message as the holder may see it; undefined if it shows nothing new. */
  function of(message: Change): Change | undefined {
    switch (message.type) {
      case 'snapshot': {
        const { room, content, files, devices } = message;
        const expiresAt = expiryOf(room.expiresAt);
        lastRoom = JSON.stringify([expiresAt, room.name]);
        return {
          ...message,
          room: { ...room, roomId: link.id, role: link.role, expiresAt, hasPin: false },
          content: text(content),
          files: files.map(withAlias),
          devices: devices.map(withAlias),
          pinAttempts: 0,
          resumeToken: resumeToken(),
        };
      }
      case 'room': {
        const { type, seq, name } = message;
        const expiresAt = expiryOf(message.expiresAt);
        const shown = JSON.stringify([expiresAt, name]);
        if (shown === lastRoom) return undefined;
        lastRoom = shown;
        return { type, seq, expiresAt, hasPin: false, ...(name !== undefined && { name }), pinAttempts: 0 };
      }
      case 'content':
        return text(message);
      case 'edit':
      case 'sealed-edit':
        return edit(message);
      case 'file-added':
        return { ...message, file: withAlias(message.file) };
      case 'devices':
        return { ...message, devices: message.devices.map(withAlias) };
      case 'devices-changed':
        return { ...message, joined: message.joined.map(withAlias), left: message.left.map(aliasOf) };
      case 'heartbeat':
        return { ...message, resumeToken: resumeToken() };
      case 'file-removed':
      case 'written':
        return message;
      case 'pin-attempts':
        return undefined;
    }
  }

  return { link, of };
}
