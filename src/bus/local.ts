/** Events within one process. */
import type { EventBus, RoomChange } from '../core/ports/rooms.ts';
import type { RoomCode } from '../core/room-code.ts';

const ready = Promise.resolve();

export function createLocalBus(): EventBus {
  const listeners = new Map<RoomCode, Set<(change: RoomChange) => void>>();
  return {
    publish(code, change) {
      for (const listener of [...(listeners.get(code) ?? [])]) listener(change);
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
