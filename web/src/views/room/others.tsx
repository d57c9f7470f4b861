/** Shows what the others in a room do: who joins, leaves and types, where, and when something arrives from them. */
import '../../style/others.css';
import { effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { countIfHidden, notify, unseenCount } from '../../components/notices.tsx';
import { deviceName, maxNameLength, nameOf } from '../../device/identity.ts';
import { t } from '../../i18n/all-strings.ts';
import type { Device, RoomModel, TextModel } from '../../room/room-phase.ts';
import { startCarets } from './carets.ts';
import type { TextViewProps } from './shared-field.ts';

interface Props extends TextViewProps {
  /** The devices that were in the room when it was opened. They are not announced. */
  first: readonly Device[];
  /** Whether the connection is lost, so that nobody knows what they do. */
  isOutdated: boolean;
}

export function Others({ room, text, field, first, isOutdated }: Props) {
  const { devices, files } = room.content.value;
  usePresenceNotices(devices, room.deviceId, first);
  useEffect(() => nameApart(room, text, first), [text]);
  useEffect(() => followTyping(text, room.deviceId), [text]);
  useFileArrivals(room.deviceId, files);
  useEffect(() => (field.current ? startCarets(field.current, room, text) : undefined), [field.current, text]);
  return isOutdated ? null : <TypingAnnouncement devices={devices} typing={text.typing.value} />;
}

/** Of a device that has only a link. */
export function RoleMark({ role }: Required<Pick<Device, 'role'>>) {
  return <small>{t(role === 'read' ? 'linkRoleRead' : 'linkRoleDrop')}</small>;
}

export function TypingBubble() {
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
  for (const device of devices)
    if (typing.has(device.deviceId) && !announced.has(device.deviceId))
      announced.set(device.deviceId, t('isTyping', { name: nameOf(device) }));
  return (
    <p class="visually-hidden" role="status">
      {[...announced.values()].at(-1)}
    </p>
  );
}

/** A device that rejoins within this time has not left: it was renamed or its page was reloaded. */
const rejoinGraceMs = 2_000;

function usePresenceNotices(devices: readonly Device[], deviceId: string, first: readonly Device[]): void {
  const missingIn = (list: readonly Device[]) => (one: Device) =>
    one.deviceId !== deviceId && !list.some((other) => other.deviceId === one.deviceId);
  const before = useRef(first);
  const leaving = useRef(new Map<string, ReturnType<typeof setTimeout>>()).current;

  function onJoined(device: Device): void {
    clearTimeout(leaving.get(device.deviceId));
    if (!leaving.delete(device.deviceId)) notify(t('joined', { name: nameOf(device) }));
  }

  function onLeft(device: Device): void {
    const announce = () => {
      leaving.delete(device.deviceId);
      notify(t('left', { name: nameOf(device) }));
    };
    leaving.set(device.deviceId, setTimeout(announce, rejoinGraceMs));
  }

  useEffect(() => {
    const previous = before.current;
    devices.filter(missingIn(previous)).forEach(onJoined);
    previous.filter(missingIn(devices)).forEach(onLeft);
    before.current = devices;
  }, [devices]);
  useEffect(() => () => leaving.forEach(clearTimeout), []);
}

/**
 * If another device in the room has the same name, this one adds a number to its own. Only the one that joined later does,
 * or the one that was renamed: the other one keeps its name.
 */
function nameApart(room: RoomModel, text: TextModel, first: readonly Device[]): () => void {
  const addNumber = (devices: readonly Device[]) => {
    const taken = devices.filter(({ deviceId }) => deviceId !== room.deviceId).map((device) => device.deviceName);
    const name = deviceName.peek();
    let [free, n] = [name, 1];
    while (taken.includes(free)) free = `${name.slice(0, maxNameLength - 3)} ${++n}`;
    if (n > 1) text.live?.rename(free);
  };
  addNumber(first);
  let known = deviceName.peek();
  return deviceName.subscribe((name) => {
    if (name !== known) addNumber(room.content.peek().devices);
    known = name;
  });
}

const typingMs = 2_000;

function followTyping({ shared, typing }: TextModel, own: string): () => void {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();

  function onStopped(device: string): void {
    timers.delete(device);
    typing.value = new Set(timers.keys());
  }

  const stopEdits = shared.on('change', ({ origin, deviceId: device }) => {
    if (origin !== 'remote' || device === undefined || device === own) return;
    clearTimeout(timers.get(device));
    timers.set(device, setTimeout(onStopped, typingMs, device));
    if (typing.value.has(device)) return;
    typing.value = new Set(timers.keys());
    showArrival(device, own);
    // Not with each letter. The page counts it once, until the user sees it.
    if (!isTextCounted) countIfHidden(1);
    isTextCounted = document.visibilityState === 'hidden';
  });
  // Without a connection, nobody knows.
  const stopStates = shared.on('state', () => {
    if (shared.isOnline || timers.size === 0) return;
    timers.forEach(clearTimeout);
    timers.clear();
    typing.value = new Set();
  });
  return () => {
    stopEdits();
    stopStates();
  };
}

let isTextCounted = false;
document.addEventListener('visibilitychange', () => (isTextCounted = false));

function useFileArrivals(own: string, files: readonly { fileId: string; deviceId?: string }[]): void {
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    const arrived = files.findLast(({ fileId, deviceId }) => known.current?.has(fileId) === false && deviceId !== own);
    known.current = new Set([...(known.current ?? []), ...files.map(({ fileId }) => fileId)]);
    if (arrived) showArrival(arrived.deviceId, own);
  }, [files]);
}

const vibrationMs = 15;

/** The dot of the logo travels from the tab of the sender, or from the logo, to that of this device. */
function showArrival(from: string | undefined, to: string): void {
  if (matchMedia('(pointer: coarse)').matches) navigator.vibrate?.(vibrationMs);
  const dotOf = (deviceId = '') => document.querySelector(`.devices [data-device="${CSS.escape(deviceId)}"] .dot`);
  const [start, end] = [dotOf(from) ?? document.querySelector('.logo-dot'), dotOf(to)];
  if (start && end && !matchMedia('(prefers-reduced-motion: reduce)').matches) travel(centreOf(start), centreOf(end));
}

type Point = { x: number; y: number };

function centreOf(element: Element): Point {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}

function travel(start: Point, end: Point): void {
  const dot = document.createElement('i');
  dot.className = 'dot travelling';
  dot.ariaHidden = 'true';
  document.body.append(dot);
  const at = ({ x, y }: Point, scale: number) => `translate(${x}px, ${y}px) scale(${scale})`;
  const middle = { x: (start.x + end.x) / 2, y: Math.min(start.y, end.y) - 28 };
  const transform = [at(start, 0.4), at(middle, 1.3), at(end, 0.4)];
  const flight = dot.animate({ transform }, { duration: 620, easing: 'cubic-bezier(0.4, 0.1, 0.3, 1)' });
  for (const type of ['finish', 'cancel']) flight.addEventListener(type, () => dot.remove());
}

/** The number on the icon of the installed page. Browsers refuse it in a tab, which is not a problem. */
effect(() => void navigator.setAppBadge?.(unseenCount.value).catch(() => undefined));
