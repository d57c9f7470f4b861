/** The devices in the room, with a dot for each. */
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { lazy } from '../../components/lazy.tsx';
import { nameOf } from '../../device/identity.ts';
import { t } from '../../i18n/strings.ts';
import { useWaitingConnection } from './alerts.tsx';
import type { TextViewProps } from './shared-field.ts';

/** As many as fit; the others are shown as a number. */
const fitting = () => (isWider(58) ? 8 : isWider(34) ? 3 : 2);
const isWider = (rem: number) => matchMedia(`(min-width: ${rem}rem)`).matches;
const maxShown = signal(fitting());
addEventListener('resize', () => (maxShown.value = fitting()));

/** Loaded when another device is in the room. */
export const loadOthers = () => import('./others.tsx');
const Others = lazy(loadOthers, 'Others');
const RoleMark = lazy(loadOthers, 'RoleMark');
const TypingBubble = lazy(loadOthers, 'TypingBubble');

export function Devices({ room, text, field }: TextViewProps) {
  const { typing } = text;
  const { devices: present } = room.content.value;
  const isOutdated = useWaitingConnection(room) !== undefined;
  const { deviceId } = room;
  const first = useRef(present).current;
  const hasMet = useRef(false);
  hasMet.current ||= present.length > 1;
  // This device comes first.
  const devices = [...present].sort((a, b) => Number(b.deviceId === deviceId) - Number(a.deviceId === deviceId));
  const [shown, rest] = [devices.slice(0, maxShown.value), devices.slice(maxShown.value)];
  const label = t('deviceCount', { n: devices.length });
  return (
    <section class="devices" data-outdated={isOutdated || undefined} aria-label={label}>
      <ul>
        {shown.map((device) => (
          <li key={device.deviceId} data-device={device.deviceId} data-own={device.deviceId === deviceId || undefined}>
            {/* With the first letter of the name, because not everyone can tell all colours apart. */}
            <i class="dot person" data-initial={[...nameOf(device)][0]} style={{ '--color': device.deviceColor }} />
            <span class="device-name" dir="auto" title={nameOf(device)}>
              {nameOf(device)}
            </span>
            {device.deviceId === deviceId && <small>{t('you')}</small>}
            {device.role && <RoleMark role={device.role} />}
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
      {hasMet.current && <Others room={room} text={text} field={field} first={first} isOutdated={isOutdated} />}
    </section>
  );
}
