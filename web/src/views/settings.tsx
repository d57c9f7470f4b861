/** The settings of this device: its name, the theme, the language, alerts. */
import { basePath, forwardedTo } from '../base-path.ts';
import { Dialog } from '../components/dialog.tsx';
import { RadioGroup } from '../components/radio-group.tsx';
import { deviceName, maxNameLength, renameDevice } from '../device/identity.ts';
import { type Theme, theme } from '../device/preferences.ts';
import { translateDeviceName } from '../i18n/device-name.ts';
import { chosenLanguage, type Language, t } from '../i18n/index.ts';
import { languages } from '../i18n/language-names.ts';
import { ArrivalSettings } from './arrival-settings.tsx';

export function Settings({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('settings')} onClose={onClose}>
      <label class="field">
        <span>{t('deviceName')}</span>
        <input
          type="text"
          value={translateDeviceName(deviceName.value)}
          dir="auto"
          maxLength={maxNameLength}
          autocomplete="off"
          onChange={({ currentTarget }) => {
            renameDevice(currentTarget.value);
            currentTarget.value = translateDeviceName(deviceName.value);
          }}
        />
        <small>{t('deviceNameHint')}</small>
      </label>
      <RadioGroup<Theme>
        legend={t('appearance')}
        value={theme.value}
        options={[
          ['system', t('themeSystem')],
          ['light', t('themeLight')],
          ['dark', t('themeDark')],
        ]}
        onChoose={(chosen) => {
          theme.value = chosen;
        }}
      />
      <label class="field">
        <span>{t('language')}</span>
        <select
          value={chosenLanguage.value}
          onChange={({ currentTarget }) => {
            chosenLanguage.value = currentTarget.value as Language | 'auto';
          }}
        >
          <option value="auto">{t('languageAuto')}</option>
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <ArrivalSettings />
      {!forwardedTo && (
        <p class="aside">
          <a href={`${basePath}/docs`}>{t('apiDocs')}</a>
        </p>
      )}
    </Dialog>
  );
}
