/** The texts in memory: loads them from the store, and drops those that may differ from it. */
import { roomMissing } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import type { RoomCode } from '../room-code.ts';
import { TextCache } from './text-cache.ts';
import { type TextPoint, WorkingText } from './working-text.ts';

export function createLoadedTexts({ rooms, texts, clock }: Pick<CoreDeps, 'rooms' | 'texts' | 'clock'>) {
  const cache = new TextCache();
  const loading = new Map<RoomCode, Promise<WorkingText>>();

  function load(code: RoomCode): WorkingText | Promise<WorkingText> {
    return cache.get(code) ?? reload(code);
  }

  /** Reads each room once at a time. */
  function reload(code: RoomCode): Promise<WorkingText> {
    const pending = loading.get(code);
    if (pending) return pending;
    const reading = read(code).finally(() => loading.delete(code));
    loading.set(code, reading);
    return reading;
  }

  async function read(code: RoomCode): Promise<WorkingText> {
    const stored = await texts.readText(code, clock());
    if (typeof stored === 'string') throw roomMissing(stored);
    const text = new WorkingText(stored);
    cache.put(code, text);
    return text;
  }

  function drop(code: RoomCode, text: WorkingText): void {
    text.generation += 1;
    if (cache.get(code) === text) cache.delete(code);
  }

  /** Whether the store has this text and nothing newer. If not, it will be read again. */
  async function isCurrent(code: RoomCode, text: WorkingText): Promise<boolean> {
    const { version, writtenAt } = await settle(text);
    const state = await rooms.readState(code, clock(), { version, writtenAt });
    if (typeof state === 'string') throw roomMissing(state);
    if (state.text.version === version && text.version === version) return true;
    if (text.pending === 0) drop(code, text);
    return false;
  }

  return { cache, load, reload, drop, isCurrent };
}

/** Waits until the store has confirmed all appends. */
export async function settle(text: WorkingText): Promise<TextPoint> {
  await text.settle();
  return text.point;
}
