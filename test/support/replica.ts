/** A room from the view of a device, built only from its messages. */
import type { ServerMessage } from '../../src/protocol/types.ts';

export interface Replica {
  text: string;
  version: number;
  files: string[];
  seq: number | undefined;
}

export const emptyReplica = (): Replica => ({ text: '', version: 0, files: [], seq: undefined });

export function learn(replica: Replica, message: ServerMessage): Replica {
  const seq = 'seq' in message ? message.seq : replica.seq;
  switch (message.type) {
    case 'snapshot': {
      const { content, version } = message.content;
      return { seq, text: content, version, files: message.files.map(({ fileId }) => fileId) };
    }
    case 'content':
    case 'conflict':
      return message.version < replica.version
        ? replica
        : { ...replica, seq, text: message.content ?? replica.text, version: message.version };
    case 'file-added':
      return { ...replica, seq, files: [...replica.files, message.file.fileId] };
    case 'file-removed':
      return { ...replica, seq, files: replica.files.filter((id) => id !== message.fileId) };
    default:
      return { ...replica, seq };
  }
}
