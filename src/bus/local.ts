/** Events within one process. */
import type { EventBus } from '../core/ports.ts';
import type { RoomCode } from '../core/room-code.ts';

const ready = Promise.resolve();

export function createLocalBus(): EventBus {
  const listeners = new Map<RoomCode, Set<(seq: number) => void>>();
  return {
    publish(code, seq) {
      for (const listener of [...(listeners.get(code) ?? [])]) listener(seq);
    },
    subscribe(code, listener) {
      const ofRoom = listeners.get(code) ?? new Set();
      listeners.set(code, ofRoom.add(listener));
      return {
        ready,
        leave() {
          ofRoom.delete(listener);
          if (ofRoom.size === 0 && listeners.get(code) === ofRoom) listeners.delete(code);
        },
      };
    },
  };
}
