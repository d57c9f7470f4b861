/** The settings for files that arrive: a sound, a notification. */
import { useSignal } from '@preact/signals';
import {
  type NotificationAccess,
  notificationAccess,
  playsSound,
  playTone,
  requestNotifications,
  showsNotifications,
} from '../device/arrival-alerts.ts';
import { t } from '../i18n/all-strings.ts';

export function ArrivalSettings() {
  const access = useSignal<NotificationAccess>(notificationAccess());

  async function switchNotifications(isOn: boolean): Promise<boolean> {
    if (isOn) access.value = await requestNotifications();
    showsNotifications.value = isOn && access.value === 'granted';
    return showsNotifications.value;
  }

  return (
    <fieldset class="arrival-settings">
      <legend>{t('newFiles')}</legend>
      <Switch
        label={t('arrivalSound')}
        isOn={playsSound.value}
        onSwitch={async (isOn) => {
          playsSound.value = isOn;
          // The user hears what they chose, and the browser allows sounds from now on.
          if (isOn) void playTone();
          return isOn;
        }}
      />
      <Switch
        label={t('arrivalNotification')}
        isOn={showsNotifications.value && access.value === 'granted'}
        onSwitch={switchNotifications}
      />
      <p class="problem" role="status">
        {access.value === 'unavailable' && t('notificationsUnavailable')}
        {access.value === 'denied' && t('notificationsBlocked')}
      </p>
    </fieldset>
  );
}

interface SwitchProps {
  label: string;
  isOn: boolean;
  /** Returns whether it is on now. */
  onSwitch: (isOn: boolean) => Promise<boolean>;
}

function Switch({ label, isOn, onSwitch }: SwitchProps) {
  return (
    <label class="check">
      <span>{label}</span>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        checked={isOn}
        aria-checked={isOn}
        onChange={async ({ currentTarget: input }) => {
          input.checked = await onSwitch(input.checked);
        }}
      />
    </label>
  );
}
