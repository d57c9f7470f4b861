/** The state of a room as a device sees it, built only from the messages it received. */
import type { ServerMessage } from '../../src/protocol/types.ts';

export interface RoomView {
  text: string;
  version: number;
  files: string[];
  seq: number | undefined;
}

export const emptyRoomView = (): RoomView => ({ text: '', version: 0, files: [], seq: undefined });

export function applyMessage(view: RoomView, message: ServerMessage): RoomView {
  const seq = 'seq' in message ? message.seq : view.seq;
  switch (message.type) {
    case 'snapshot': {
      const { content, version } = message.content;
      return { seq, text: content, version, files: message.files.map(({ fileId }) => fileId) };
    }
    case 'content':
    case 'conflict':
      return message.version < view.version
        ? view
        : { ...view, seq, text: message.content ?? view.text, version: message.version };
    case 'file-added':
      return { ...view, seq, files: [...view.files, message.file.fileId] };
    case 'file-removed':
      return { ...view, seq, files: view.files.filter((id) => id !== message.fileId) };
    default:
      return { ...view, seq };
  }
}
