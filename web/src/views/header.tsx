/** The header of every view: the home link and the settings. */
import { useSignal } from '@preact/signals';
import { IconButton, Logo } from '../components/controls.tsx';
import { lazy } from '../components/lazy.tsx';
import { nameOfRoom } from '../device/recent-rooms.ts';
import { t } from '../i18n/strings.ts';
import { basePath, forwardedTo } from '../page-settings.ts';
import { goHome, onPlainClick, route } from '../router.ts';

const loadNotes = () => import('./server-notes.tsx');
export const DemoBanner = lazy(loadNotes, 'DemoBanner');
export const AbuseContact = lazy(loadNotes, 'AbuseContact');
const Settings = lazy(() => import('./settings.tsx'), 'Settings');

export function Header() {
  const isOpen = useSignal(false);
  const roomName = route.value.name === 'room' && nameOfRoom(route.value.code);
  return (
    <header class="top">
      <a class="brand" href={`${basePath}/`} aria-label={t('home')} onClick={onPlainClick(goHome)}>
        <Logo />
        <span>Poproom</span>
      </a>
      {roomName && (
        <span class="room-name" dir="auto">
          {roomName}
        </span>
      )}
      {forwardedTo && (
        <small class="server-name">{t('serverName', { host: forwardedTo.replace(/^https?:\/\//, '') })}</small>
      )}
      <IconButton icon="settings" label={t('settings')} onClick={() => (isOpen.value = true)} />
      {isOpen.value && <Settings onClose={() => (isOpen.value = false)} />}
    </header>
  );
}
