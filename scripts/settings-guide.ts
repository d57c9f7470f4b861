/** The table of settings in docs/operations.md, from the table in the program. */
import { type Config, settings } from '../src/config.ts';
import { table } from './markdown.ts';

/** Additions to the help of `poproom serve`: long explanations and links. */
const details: { readonly [K in keyof Config]?: string } = {
  store: 'Valkey works like Redis',
  tlsCert: '[how](#https-without-a-proxy)',
  secret: 'at least 16 characters; required with Redis, and the same on all nodes',
  publicUrl: 'it may have a [path](#host-under-a-path)',
  pathRemoved: '[why](#host-under-a-path)',
  filesUrl: 'to serve them from a separate origin',
  roomMaxTtl: 'rooms can be extended',
  fileMax: 'at most `POPROOM_ROOM_MAX_BYTES`',
  webhookHosts: 'see [Webhooks](webhooks.md#allow-hosts)',
  adminToken: 'see [the admin interface](admin.md)',
  abuseContact: 'see [Reports](admin.md#reports)',
  metricsToken: 'at least 16 characters; [how](monitoring.md#access)',
};

export function settingsTable(): string {
  const rows = Object.entries(settings).map(([key, { name, standard, help }]) => {
    const [meaning = '', otherwise] = help.split('; default: ');
    const detail = details[key as keyof Config];
    const text = withCode(meaning) + (detail ? `; ${detail}` : '');
    return [`\`${name}\``, standard ? `\`${standard}\`` : withCode(otherwise ?? 'none'), text];
  });
  return table(['setting', 'default', 'meaning'], rows);
}

/** Marks what a user would type. */
const withCode = (text: string) => text.replace(typed, (word) => `\`${word}\``);

const typed = new RegExp(
  [
    'POPROOM_[A-Z_]+(?:=\\w+)?',
    '\\*\\.example\\.org',
    'private:HOST',
    '\\b(?:sqlite|disk):(?:/FOLDER)?(?=[\\s,;]|$)',
    '\\b(?:redis|s3)://[^\\s,;]+',
    'X-Forwarded-For',
    '(?<![\\w/])/(?:api/)?(?:admin|metrics|files)\\b',
    '\\b\\d+(?:[KMGT]iB|d)\\b',
    '\\b(?:true|false|0)(?=:| if)',
    '\\b(?:debug|info|warn|error|silent)(?=,| or|$)',
  ].join('|'),
  'g',
);
