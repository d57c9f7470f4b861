/** Reports names that are not settings, with the one that was probably meant. */
import { settingNames } from '../../config.ts';
import { nearestName } from '../nearest-name.ts';

export function describeUnknown(name: string): string {
  const meant = nearestName(name, settingNames);
  return `${name} is not a setting. ${meant ? `Did you mean ${meant}?` : '"poproom serve --help" lists all settings.'}`;
}
