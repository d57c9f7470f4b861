/** A sound and a notification when files arrive. Both are off until the user turns them on in the settings. */
import { basePath } from '../page-settings.ts';
import { persistedSignal } from './preferences.ts';
import { isBoolean } from './storage.ts';

export const playsSound = persistedSignal('arrival-sound', false, isBoolean);
export const showsNotifications = persistedSignal('arrival-notifications', false, isBoolean);

/** `unavailable`: the browser has no notifications, or not over plain HTTP. */
export const notificationAccess = (): NotificationPermission | 'unavailable' =>
  'Notification' in window && isSecureContext ? Notification.permission : 'unavailable';

/** The browser asks the user, unless they have answered before. */
export const requestNotifications = async () =>
  notificationAccess() === 'unavailable' ? 'unavailable' : Notification.requestPermission();

/** `text` says who added what. */
export function alertArrival(text: string): void {
  if (playsSound.value) void playTone();
  const isHidden = document.visibilityState === 'hidden';
  // The user may have blocked notifications in the browser since.
  if (isHidden && showsNotifications.value && notificationAccess() === 'granted') void showNotification(text);
}

let audio: AudioContext | undefined;
/** Without a click or a key in the page, browsers allow no sound. A later one must not play an old alert. */
const resumeTimeoutMs = 1_000;

/** Plays two short notes. */
export async function playTone(): Promise<void> {
  audio ??= createAudio();
  const timeout = new Promise((resolve) => setTimeout(resolve, resumeTimeoutMs));
  await Promise.race([audio.resume(), timeout]);
  if (audio.state !== 'running') return;
  playNote(audio, 660, 0);
  playNote(audio, 880, 0.12);
}

function createAudio(): AudioContext {
  const context = new AudioContext();
  for (const type of ['pointerdown', 'keydown']) addEventListener(type, () => void context.resume(), { once: true });
  return context;
}

function playNote(context: AudioContext, frequency: number, delay: number): void {
  const tone = new OscillatorNode(context, { frequency });
  const volume = new GainNode(context);
  const start = context.currentTime + delay;
  const end = start + 0.25;
  volume.gain.setValueAtTime(0.15, start);
  volume.gain.exponentialRampToValueAtTime(0.001, end);
  tone.connect(volume).connect(context.destination);
  tone.start(start);
  tone.stop(end);
}

/** A later notification replaces an earlier one. The room code is not part of it: others may see the screen. */
async function showNotification(body: string): Promise<void> {
  const options = { body, tag: 'files', icon: `${basePath}/assets/icon-192.png`, data: location.pathname };
  try {
    const notification = new Notification('Poproom', options);
    notification.onclick = () => {
      window.focus();
      notification.close();
    };
  } catch {
    // Chrome on Android lets only the service worker show notifications, which also handles the click.
    const registration = await navigator.serviceWorker?.getRegistration();
    await registration?.showNotification('Poproom', options);
  }
}
