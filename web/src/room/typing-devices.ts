/** Which other devices are editing the text right now. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { SharedText } from '../../../src/client/index.ts';

const typingMs = 2_000;

export function createTypingDevices(text: SharedText, ownDevice: string): ReadonlySignal<ReadonlySet<string>> {
  const typing = signal<ReadonlySet<string>>(new Set());
  const timers = new Map<string, ReturnType<typeof setTimeout>>();

  function onStopped(device: string): void {
    timers.delete(device);
    typing.value = new Set(timers.keys());
  }

  text.on('change', ({ origin, deviceId: device }) => {
    if (origin !== 'remote' || device === undefined || device === ownDevice) return;
    clearTimeout(timers.get(device));
    timers.set(
      device,
      setTimeout(() => onStopped(device), typingMs),
    );
    if (!typing.value.has(device)) typing.value = new Set(timers.keys());
  });
  return typing;
}
