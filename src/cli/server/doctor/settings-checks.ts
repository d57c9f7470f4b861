/** The settings: those that cannot be, those that nobody reads, and those that are a risk. */
import type { Config } from '../../../config.ts';
import { settingNames } from '../../../config.ts';
import type { Check, Look } from './check.ts';
import { bad, type Finding, ok, warning } from './finding.ts';
import { nearestName } from './nearest-name.ts';

const values: Look = (_config, { settings }) => {
  if (settings.problems.length === 0) return [ok('Every setting can be read.')];
  return settings.problems.map((problem) => bad(`${problem}.`, '"poproom serve --help" lists all settings.'));
};

const unknown: Look = (_config, { settings }) =>
  settings.unknown.map((name) => {
    const meant = nearestName(name, settingNames);
    const mend = meant ? `Did you mean ${meant}?` : 'Remove it; "poproom serve --help" lists all settings.';
    return warning(`Nothing reads ${name}.`, mend);
  });

const secret: Look = ({ secret }) =>
  secret && secret.length < 32
    ? [warning('POPROOM_SECRET is short.', 'Make one by "openssl rand -hex 32"; PINs of rooms that are open are lost.')]
    : [];

/** Only those who sit on a machine of their own need no TLS. */
const publicUrl: Look = ({ publicUrl, trustedProxies }) => {
  if (publicUrl === undefined) {
    const isBehindProxy = trustedProxies.rules.length > 0;
    const what = 'There is a trusted proxy, and no POPROOM_PUBLIC_URL: links are made of what a request says.';
    return isBehindProxy ? [warning(what, 'Set POPROOM_PUBLIC_URL to the address that people type.')] : [];
  }
  if (publicUrl.startsWith('https:') || isNear(new URL(publicUrl).hostname)) return [];
  const what = 'POPROOM_PUBLIC_URL is not https: PINs and texts can be read on the way, and phones lend no camera.';
  return [warning(what, 'Put a proxy with TLS before the server; docs/operations.md shows three.')];
};

const isNear = (host: string) =>
  /^(localhost|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|\[.*|[^.]+|.*\.(local|lan|localhost|internal))$/.test(
    host,
  );

const proxies: Look = ({ trustedProxies }) => {
  const strangers = ['203.0.113.7', '198.51.100.7', '8.8.8.8'];
  if (!strangers.every((address) => trustedProxies.check(address))) return [];
  const what = 'POPROOM_TRUSTED_PROXIES trusts everyone: anyone can claim any address, and no limit holds.';
  return [bad(what, 'List the addresses of your proxies alone.')];
};

const guessing: Look = ({ missLimit }) =>
  missLimit === 0
    ? [warning('POPROOM_MISS_LIMIT is 0: room codes can be guessed without end.', 'Leave it unset, or set it to 20.')]
    : [];

const unboundedClients: Look = ({ clientMaxBytes }) =>
  clientMaxBytes === 0
    ? [
        warning(
          'POPROOM_CLIENT_MAX_BYTES is 0: one address can use up all the room for files.',
          'Leave it unset, or set it to a size such as 500MiB.',
        ),
      ]
    : [];

const sharedFiles: Look = ({ store, files }) =>
  store !== 'sqlite:' && files === 'disk:'
    ? [
        warning(
          'Rooms are in Redis and files on this disk: with several servers, each has only its own files.',
          'With more than one server, set POPROOM_FILES to an s3:// bucket.',
        ),
      ]
    : [];

const risks: readonly { needs: readonly (keyof Config)[]; look: Look }[] = [
  { needs: ['secret'], look: secret },
  { needs: ['publicUrl', 'trustedProxies'], look: publicUrl },
  { needs: ['trustedProxies'], look: proxies },
  { needs: ['missLimit'], look: guessing },
  { needs: ['clientMaxBytes'], look: unboundedClients },
  { needs: ['store', 'files'], look: sharedFiles },
];

export const settingsChecks: readonly Check[] = [
  { name: 'settings', needs: [], look: values },
  { name: 'settings', needs: [], look: unknown },
  ...risks.map((risk): Check => ({ name: 'settings', ...risk })),
];

/** Where everyone needs a key, there had better be one. */
export function aboutKeys({ requireApiKey }: Pick<Config, 'requireApiKey'>, keysInForce: number): Finding[] {
  if (!requireApiKey || keysInForce > 0) return [];
  const what = 'POPROOM_REQUIRE_API_KEY is true, and there is no key: nobody gets in.';
  return [warning(what, 'Make a key: poproom keys create NAME')];
}
