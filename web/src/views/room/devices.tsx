/** The devices in the room, with a dot for each. */
import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/strings.ts';
import type { Device, RoomModel } from '../../room/room-phase.ts';

/** As many as fit; the others are shown as a number. */
const maxShown = () => (matchMedia('(min-width: 58rem)').matches ? 8 : 3);

interface Props {
  room: RoomModel;
  typing: ReadonlySignal<ReadonlySet<string>>;
}

export function Devices({ room, typing }: Props) {
  const { devices: present } = room.content.value;
  const isOutdated = useIsDisconnected(room);
  const { deviceId } = room;
  usePresenceNotices(present, deviceId);
  const devices = ownFirst(present, deviceId);
  const [shown, rest] = [devices.slice(0, maxShown()), devices.slice(maxShown())];
  return (
    <section
      class="devices"
      data-outdated={isOutdated || undefined}
      aria-label={t('deviceCount', { n: devices.length })}
    >
      <ul>
        {shown.map((device) => (
          <li key={device.deviceId} data-own={device.deviceId === deviceId || undefined}>
            <DeviceDot device={device} />
            <span class="device-name" dir="auto" title={nameOf(device)}>
              {nameOf(device)}
            </span>
            {device.deviceId === deviceId && <small>{t('you')}</small>}
            {typing.value.has(device.deviceId) && <TypingBubble />}
          </li>
        ))}
        {rest.length > 0 && (
          <li title={rest.map(nameOf).join(', ')}>
            <bdi dir="ltr">+{rest.length}</bdi>
            {rest.some((device) => typing.value.has(device.deviceId)) && <TypingBubble />}
          </li>
        )}
        {isOutdated ? (
          <li class="waiting">{t('devicesOutdated')}</li>
        ) : (
          devices.length < 2 && <li class="waiting">{t('waitingForDevice')}</li>
        )}
      </ul>
      {!isOutdated && <TypingAnnouncement devices={devices} typing={typing.value} />}
    </section>
  );
}

/** With the first letter of the name, because not everyone can tell all colours apart. */
function DeviceDot({ device }: { device: Device }) {
  return <i class="dot person" data-initial={[...nameOf(device)][0]} style={{ '--color': device.deviceColor }} />;
}

/** Stays true during the attempts to reconnect. */
function useIsDisconnected(room: RoomModel): boolean {
  const isDisconnected = useRef(false);
  const { type } = room.phase.value.connection;
  if (type !== 'connecting') isDisconnected.current = type === 'waiting';
  return isDisconnected.current;
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

/** Screen readers announce once that a device is typing, not repeatedly. */
function TypingAnnouncement({ devices, typing }: { devices: readonly Device[]; typing: ReadonlySet<string> }) {
  const announced = useRef(new Map<string, string>()).current;
  for (const device of devices) {
    if (typing.has(device.deviceId) && !announced.has(device.deviceId)) {
      announced.set(device.deviceId, t('isTyping', { name: nameOf(device) }));
    }
  }
  return (
    <p class="visually-hidden" role="status">
      {[...announced.values()].at(-1)}
    </p>
  );
}

function ownFirst(devices: readonly Device[], deviceId: string): readonly Device[] {
  return [...devices].sort((a, b) => Number(b.deviceId === deviceId) - Number(a.deviceId === deviceId));
}

/** Removes control characters, which could reorder the surrounding text: others choose this name. */
export const nameOf = ({ deviceName = '' }: Device): string =>
  deviceName.replace(/[\p{Cc}\p{Cf}]/gu, '').trim() || t('unnamedDevice');

/** A device that rejoins within this time has not left: it was renamed or its page was reloaded. */
const rejoinGraceMs = 2_000;

/** Announces who joined and who left. */
function usePresenceNotices(devices: readonly Device[], deviceId: string): void {
  const missingIn = (list: readonly Device[]) => (one: Device) =>
    one.deviceId !== deviceId && !list.some((other) => other.deviceId === one.deviceId);
  const before = useRef<readonly Device[] | undefined>(undefined);
  const leaving = useRef(new Map<string, ReturnType<typeof setTimeout>>()).current;

  function onJoined(device: Device): void {
    if (!leaving.has(device.deviceId)) notify(t('joined', { name: nameOf(device) }));
    clearTimeout(leaving.get(device.deviceId));
    leaving.delete(device.deviceId);
  }

  function onLeft(device: Device): void {
    const announce = () => {
      leaving.delete(device.deviceId);
      notify(t('left', { name: nameOf(device) }));
    };
    leaving.set(device.deviceId, setTimeout(announce, rejoinGraceMs));
  }

  useEffect(() => {
    const previous = before.current ?? devices;
    devices.filter(missingIn(previous)).forEach(onJoined);
    previous.filter(missingIn(devices)).forEach(onLeft);
    before.current = devices;
  }, [devices]);
  useEffect(() => () => leaving.forEach(clearTimeout), []);
}
