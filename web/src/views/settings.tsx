/** The settings of this device: its name, the theme, the language, alerts. */
import { useSignal } from '@preact/signals';
import { Button } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import { RadioGroup } from '../components/form-fields.tsx';
import {
  notificationAccess,
  playsSound,
  playTone,
  requestNotifications,
  showsNotifications,
} from '../device/arrival-alerts.ts';
import { maxNameLength, ownName, renameDevice } from '../device/identity.ts';
import { keepAccess, keptAccess, showsCarets, type Theme, theme } from '../device/preferences.ts';
import { t } from '../i18n/all-strings.ts';
import type { Language } from '../i18n/languages.ts';
import { chosenLanguage } from '../i18n/strings.ts';
import { basePath, forwardedTo } from '../page-settings.ts';

export function Settings({ onClose }: { onClose: () => void }) {
  const onChange = ({ currentTarget: field }: { currentTarget: HTMLInputElement }) => {
    renameDevice(field.value);
    field.value = ownName();
  };
  return (
    <Dialog title={t('settings')} onClose={onClose}>
      <label class="field">
        <span>{t('deviceName')}</span>
        <input
          type="text"
          value={ownName()}
          dir="auto"
          maxLength={maxNameLength}
          autocomplete="off"
          {...{ onChange }}
        />
        <small>{t('deviceNameHint')}</small>
      </label>
      <RadioGroup<Theme>
        legend={t('appearance')}
        chosen={theme}
        options={[
          ['system', t('themeSystem')],
          ['light', t('themeLight')],
          ['dark', t('themeDark')],
        ]}
      />
      <label class="field">
        <span>{t('language')}</span>
        <select
          value={chosenLanguage.value}
          onChange={({ currentTarget }) => (chosenLanguage.value = currentTarget.value as Language | 'auto')}
        >
          <option value="auto">{t('languageAuto')}</option>
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Switch label={t('showCarets')} isOn={showsCarets.value} onSwitch={async (isOn) => (showsCarets.value = isOn)} />
      <ArrivalSettings />
      {keptAccess() && <Button label={t('accessForget')} onClick={forgetAccess} />}
      {!forwardedTo && (
        <p class="aside">
          <a href={`${basePath}/docs`}>{t('apiDocs')}</a>
        </p>
      )}
    </Dialog>
  );
}

function forgetAccess(): void {
  keepAccess(undefined);
  location.reload();
}

/** Each language in its own words, in the order of the settings: English, then by name. */
const languages: Record<Language, string> = {
  en: 'English',
  id: 'Bahasa Indonesia',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  pl: 'Polski',
  pt: 'Português (Brasil)',
  tr: 'Türkçe',
  ru: 'Русский',
  uk: 'Українська',
  ar: 'العربية',
  hi: 'हिन्दी',
  zh: '中文',
  ja: '日本語',
  ko: '한국어',
};

function ArrivalSettings() {
  const access = useSignal(notificationAccess());

  async function switchSound(isOn: boolean): Promise<boolean> {
    playsSound.value = isOn;
    // The user hears what they chose, and the browser allows sounds from now on.
    if (isOn) void playTone();
    return isOn;
  }

  async function switchNotifications(isOn: boolean): Promise<boolean> {
    if (isOn) access.value = await requestNotifications();
    showsNotifications.value = isOn && access.value === 'granted';
    return showsNotifications.value;
  }

  const isNotifying = showsNotifications.value && access.value === 'granted';
  return (
    <fieldset class="arrival-settings">
      <legend>{t('newFiles')}</legend>
      <Switch label={t('arrivalSound')} isOn={playsSound.value} onSwitch={switchSound} />
      <Switch label={t('arrivalNotification')} isOn={isNotifying} onSwitch={switchNotifications} />
      <p class="problem" role="status">
        {access.value === 'unavailable' && t('notificationsUnavailable')}
        {access.value === 'denied' && t('notificationsBlocked')}
      </p>
    </fieldset>
  );
}

/** `onSwitch` returns whether it is on now. */
type SwitchProps = { label: string; isOn: boolean; onSwitch: (isOn: boolean) => Promise<boolean> };

function Switch({ label, isOn, onSwitch }: SwitchProps) {
  const onChange = async ({ currentTarget: input }: { currentTarget: HTMLInputElement }) => {
    input.checked = await onSwitch(input.checked);
  };
  return (
    <label class="check">
      <span>{label}</span>
      <input type="checkbox" role="switch" class="switch" checked={isOn} aria-checked={isOn} onChange={onChange} />
    </label>
  );
}
