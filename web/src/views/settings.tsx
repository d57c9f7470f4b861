/** What a person may choose on this device: its name, the colours, the language. */

import { Choice } from '../components/choice.tsx';
import { Dialog } from '../components/dialog.tsx';
import { deviceName, longestName, renameDevice } from '../device/identity.ts';
import { type Theme, theme } from '../device/preferences.ts';
import { chosenLanguage, type Language, languages, t } from '../i18n/index.ts';

export function Settings({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('settings')} onClose={onClose}>
      <label class="field">
        <span>{t('deviceName')}</span>
        <input
          type="text"
          value={deviceName.value}
          maxLength={longestName}
          autocomplete="off"
          onChange={({ currentTarget }) => {
            renameDevice(currentTarget.value);
            currentTarget.value = deviceName.value;
          }}
        />
        <small>{t('deviceNameHint')}</small>
      </label>
      <Choice<Theme>
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
      <p class="aside">
        <a href="/docs">{t('forDevelopers')}</a>
      </p>
    </Dialog>
  );
}
