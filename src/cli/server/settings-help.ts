/** Lists all server settings with their defaults. */
import { settings } from '../../config.ts';

export function settingsHelp(): string {
  const rows = Object.values(settings).map(({ name, standard, help }) => {
    return `  ${name.padEnd(32)} ${(standard ?? '').padEnd(9)} ${help}`;
  });
  return ['Settings (environment variables), with their defaults:', '', ...rows, ''].join('\n');
}
