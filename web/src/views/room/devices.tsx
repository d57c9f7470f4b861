/** Who is in the room: a dot for each device, popping in and out. */
import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { notify } from '../../components/notices.tsx';
import { deviceId } from '../../device/identity.ts';
import { t } from '../../i18n/index.ts';
import type { Device, RoomState } from '../../room/room.ts';

/** As many as fit; the rest is a number. */
const mostShown = () => (matchMedia('(min-width: 58rem)').matches ? 8 : 3);

interface Props {
  room: RoomState;
  typing: ReadonlySignal<ReadonlySet<string>>;
}

export function Devices({ room, typing }: Props) {
  useComingAndGoing(room.devices.value);
  const devices = ownFirst(room.devices.value);
  const [shown, rest] = [devices.slice(0, mostShown()), devices.slice(mostShown())];
  return (
    <section class="devices" aria-label={t('devicesHere', { n: devices.length })}>
      <ul>
        {shown.map((device) => (
          <li key={device.deviceId}>
            <i class="dot" />
            <span class="device-name" title={nameOf(device)}>
              {nameOf(device)}
            </span>
            {device.deviceId === deviceId && <small>{t('thisDevice')}</small>}
            {typing.value.has(device.deviceId) && <TypingBubble />}
          </li>
        ))}
        {rest.length > 0 && (
          <li title={rest.map(nameOf).join(', ')}>
            +{rest.length}
            {rest.some((device) => typing.value.has(device.deviceId)) && <TypingBubble />}
          </li>
        )}
        {devices.length < 2 && <li class="nobody">{t('aloneHint')}</li>}
      </ul>
      <TypingAnnouncement devices={devices} typing={typing.value} />
    </section>
  );
}

function TypingBubble() {
  return (
    <span class="typing" aria-hidden="true">
      {t('typing')}
      <i />
      <i />
      <i />
    </span>
  );
}

/** Tells a screen reader once that a device types, not again and again. */
function TypingAnnouncement({ devices, typing }: { devices: readonly Device[]; typing: ReadonlySet<string> }) {
  const announced = useRef(new Map<string, string>()).current;
  for (const device of devices) {
    if (typing.has(device.deviceId) && !announced.has(device.deviceId)) {
      announced.set(device.deviceId, t('isTyping', { name: nameOf(device) }));
    }
  }
  return (
    <p class="out-of-sight" role="status">
      {[...announced.values()].at(-1)}
    </p>
  );
}

function ownFirst(devices: readonly Device[]): readonly Device[] {
  return [...devices].sort((a, b) => Number(b.deviceId === deviceId) - Number(a.deviceId === deviceId));
}

/** Without characters that could turn the words around it upside down: others chose the name. */
export const nameOf = ({ deviceName = '' }: Device): string =>
  deviceName.replace(/[\p{Cc}\p{Cf}]/gu, '').trim() || t('unnamedDevice');

/** One that is back within this time has not left: it was renamed, or its page was loaded anew. */
const awayMs = 2_000;

/** Says who came and who left, for those who do not look. */
function useComingAndGoing(devices: readonly Device[]): void {
  const before = useRef<readonly Device[] | undefined>(undefined);
  const leaving = useRef(new Map<string, ReturnType<typeof setTimeout>>()).current;

  function came(device: Device): void {
    if (!leaving.has(device.deviceId)) notify(t('joined', { name: nameOf(device) }));
    clearTimeout(leaving.get(device.deviceId));
    leaving.delete(device.deviceId);
  }

  function went(device: Device): void {
    const tell = () => {
      leaving.delete(device.deviceId);
      notify(t('left', { name: nameOf(device) }));
    };
    leaving.set(device.deviceId, setTimeout(tell, awayMs));
  }

  useEffect(() => {
    const former = before.current ?? devices;
    devices.filter(missingIn(former)).forEach(came);
    former.filter(missingIn(devices)).forEach(went);
    before.current = devices;
  }, [devices]);
  useEffect(() => () => leaving.forEach(clearTimeout), []);
}

const missingIn = (list: readonly Device[]) => (one: Device) =>
  one.deviceId !== deviceId && !list.some((other) => other.deviceId === one.deviceId);
