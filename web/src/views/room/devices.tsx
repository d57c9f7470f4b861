/** Who is in the room: a dot for each device, popping in and out. */
import { useEffect, useRef } from 'preact/hooks';
import { deviceId } from '../../device/identity.ts';
import { notify } from '../../parts/notices.tsx';
import type { Device, RoomState } from '../../room/room.ts';
import { t } from '../../words/index.ts';

/** As many as fit; the rest is a number. */
const mostShown = 8;

export function Devices({ room }: { room: RoomState }) {
  const devices = ownFirst(room.devices.value);
  useComingAndGoing(devices);
  return (
    <section class="devices" aria-label={t('devicesHere', { n: devices.length })}>
      <ul>
        {devices.slice(0, mostShown).map((device) => (
          <li key={device.deviceId}>
            <i class="dot" />
            <span>{nameOf(device)}</span>
            {device.deviceId === deviceId && <small>{t('thisDevice')}</small>}
          </li>
        ))}
        {devices.length > mostShown && <li>+{devices.length - mostShown}</li>}
        {devices.length < 2 && <li class="nobody">{t('aloneHint')}</li>}
      </ul>
    </section>
  );
}

function ownFirst(devices: readonly Device[]): readonly Device[] {
  return [...devices].sort((a, b) => Number(b.deviceId === deviceId) - Number(a.deviceId === deviceId));
}

const nameOf = ({ deviceName }: Device) => deviceName ?? t('unnamedDevice');

/** Says who came and who left, for those who do not look. */
function useComingAndGoing(devices: readonly Device[]): void {
  const before = useRef<readonly Device[] | undefined>(undefined);
  useEffect(() => {
    const missingIn = (list: readonly Device[]) => (one: Device) => {
      return one.deviceId !== deviceId && !list.some((other) => other.deviceId === one.deviceId);
    };
    for (const device of devices.filter(missingIn(before.current ?? devices)))
      notify(t('joined', { name: nameOf(device) }));
    for (const device of (before.current ?? []).filter(missingIn(devices))) notify(t('left', { name: nameOf(device) }));
    before.current = devices;
  }, [devices]);
}
