/** Default device names in the user's language. They are sent in English; names that people typed stay as they are. */
import { defaultNamePattern } from '../device/identity.ts';
import { t } from './index.ts';

export function translateDeviceName(name: string): string {
  const [, browser, system] = defaultNamePattern.exec(name) ?? [];
  return browser && system ? t('defaultDeviceName', { browser, system }) : name;
}
