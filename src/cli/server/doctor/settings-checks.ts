/** Checks the settings: invalid, unknown and risky ones. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Config } from '../../../config.ts';
import { demoNote, settingNames } from '../../../config.ts';
import { CertificateError, describeCertificate, loadCertificate } from '../../../http/certificate.ts';
import { hiddenAdmin, pathRemovedFix } from '../../../http/urls.ts';
import type { CreationMode } from '../../../protocol/limits.ts';
import { bare, isPermitted, type WebhookHost } from '../../../webhooks/hosts.ts';
import { nearestName } from '../../command.ts';
import { bad, type Check, type Finding, ok, type RunCheck, warning } from './check.ts';

const values: RunCheck = (_config, { settings }) => {
  const doubtful = settings.warnings.map((found) => warning(found, 'Remove one of them.'));
  if (settings.problems.length === 0) return [ok('All settings are valid.'), ...doubtful];
  return [
    ...settings.problems.map((problem) => bad(`${problem}.`, '"poproom serve --help" lists all settings.')),
    ...doubtful,
  ];
};

const unknown: RunCheck = (_config, { settings }) =>
  settings.unknown.map((name) => {
    const meant = nearestName(name, settingNames);
    const fix = meant ? `Did you mean ${meant}?` : 'Remove it; "poproom serve --help" lists all settings.';
    return warning(`${name} is not a known setting.`, fix);
  });

const secret: RunCheck = ({ secret }) =>
  secret && secret.length < 32
    ? [
        warning(
          'POPROOM_SECRET is short.',
          'Generate one with "openssl rand -hex 32"; the PINs of existing rooms then become invalid.',
        ),
      ]
    : [];

const certificate: RunCheck = ({ tlsCert, tlsKey }) => {
  if (!tlsCert || !tlsKey) return [];
  try {
    const { daysLeft } = describeCertificate(loadCertificate({ certFile: tlsCert, keyFile: tlsKey }), Date.now());
    const renew = 'Renew it; the server reloads the files automatically.';
    if (daysLeft < 0) return [bad('The TLS certificate has expired.', renew)];
    if (daysLeft < 14) return [warning(`The TLS certificate expires in ${daysLeft} days.`, renew)];
    return [ok(`The TLS certificate is valid for ${daysLeft} days.`)];
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    return [bad(error.message, 'Correct POPROOM_TLS_CERT and POPROOM_TLS_KEY.')];
  }
};

/** TLS is not needed on local networks. */
const publicUrl: RunCheck = ({ publicUrl, trustedProxies }) => {
  if (publicUrl === undefined) {
    const isBehindProxy = trustedProxies.rules.length > 0;
    const found = 'There is a trusted proxy but no POPROOM_PUBLIC_URL: links are built from request headers.';
    return isBehindProxy ? [warning(found, 'Set POPROOM_PUBLIC_URL to the URL that clients use.')] : [];
  }
  if (publicUrl.startsWith('https:') || isLocal(new URL(publicUrl).hostname)) return [];
  const found =
    'POPROOM_PUBLIC_URL is not https: PINs and texts are sent unencrypted, and pages cannot use the camera.';
  return [warning(found, 'Put a proxy with TLS in front of the server; see docs/operations.md.')];
};

const adminPath: RunCheck = (config) => {
  const found = hiddenAdmin(config);
  return found ? [warning(found, pathRemovedFix)] : [];
};

const isLocal = (host: string) =>
  /^(localhost|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|\[.*|[^.]+|.*\.(local|lan|localhost|internal))$/.test(
    host,
  );

const proxies: RunCheck = ({ trustedProxies }) => {
  const publicAddresses = ['203.0.113.7', '198.51.100.7', '8.8.8.8'];
  if (!publicAddresses.every((address) => trustedProxies.check(address))) return [];
  const found = 'POPROOM_TRUSTED_PROXIES trusts every address: clients can forge theirs and evade all limits.';
  return [bad(found, 'List only the addresses of your proxies.')];
};

const guessing: RunCheck = ({ missLimit }) =>
  missLimit === 0
    ? [
        warning(
          'POPROOM_MISS_LIMIT is 0: room codes can be guessed without a limit.',
          'Leave it unset, or set it to 20.',
        ),
      ]
    : [];

const unboundedClients: RunCheck = ({ clientMaxBytes }) =>
  clientMaxBytes === 0
    ? [
        warning(
          'POPROOM_CLIENT_MAX_BYTES is 0: one address can use up all storage for files.',
          'Leave it unset, or set it to a size such as 500MiB.',
        ),
      ]
    : [];

const sharedFiles: RunCheck = ({ store, files }) =>
  store !== 'sqlite:' && (files === 'disk:' || 'folder' in files)
    ? [
        warning(
          'Rooms are in Redis but files on this disk: with several servers, each has only its own files.',
          'With more than one server, set POPROOM_FILES to an s3:// bucket.',
        ),
      ]
    : [];

/** Tells operators which clients may create rooms. */
const creation: RunCheck = ({ create, userHeader, requireApiKey }) => {
  const joining = requireApiKey ? 'Joining a room needs an API key too.' : 'Everyone with a code can join.';
  return [ok(`${creators(create, userHeader)} ${joining}`)];
};

function creators(create: CreationMode, userHeader: string): string {
  switch (create) {
    case 'open':
      return 'Everyone may create rooms.';
    case 'key':
      return 'Only clients with an API key may create rooms.';
    case 'password':
      return 'Only clients with the password or an API key may create rooms.';
    case 'proxy':
      return `Only users whom a trusted proxy names in ${userHeader}, and clients with an API key, may create rooms.`;
  }
}

/** Tells operators where members of rooms can make the server send requests. */
const webhooks: RunCheck = async ({ webhookHosts }) => {
  if (webhookHosts.length === 0) return [];
  const names = webhookHosts.map((host) => `${host.isWildcard ? '*.' : ''}${host.host}`).join(', ');
  const found = await Promise.all(webhookHosts.map(checkWebhookHost));
  return [ok(`Webhooks may be sent to ${names}.`), ...found.flat()];
};

const setting = 'POPROOM_WEBHOOK_HOSTS';

async function checkWebhookHost(entry: WebhookHost): Promise<Finding[]> {
  const { host, isWildcard } = entry;
  if (isWildcard && !host.includes('.'))
    return [warning(`${setting} allows every host below .${host}.`, 'Name the hosts, or the domain that you trust.')];
  if (isWildcard || isIP(bare(host))) return [];
  try {
    const addresses = await lookup(host, { all: true });
    if (addresses.some(({ address }) => isPermitted(entry, address))) return [];
    const refused = `${host} in ${setting} has only addresses that are not allowed, such as ${addresses[0]?.address}.`;
    return [warning(refused, `If it is in your own network, write private:${host}.`)];
  } catch {
    return [warning(`${host} in ${setting} cannot be resolved.`, 'Correct the name, or the DNS of this machine.')];
  }
}

const demonstration: RunCheck = (config) => (config.demo ? [ok(demoNote(config))] : []);

const risks: readonly { needs: readonly (keyof Config)[]; run: RunCheck }[] = [
  { needs: ['secret'], run: secret },
  { needs: ['tlsCert', 'tlsKey'], run: certificate },
  { needs: ['publicUrl', 'trustedProxies'], run: publicUrl },
  { needs: ['publicUrl', 'pathRemoved', 'adminToken'], run: adminPath },
  { needs: ['trustedProxies'], run: proxies },
  { needs: ['missLimit'], run: guessing },
  { needs: ['clientMaxBytes'], run: unboundedClients },
  { needs: ['store', 'files'], run: sharedFiles },
  { needs: ['create', 'userHeader', 'requireApiKey'], run: creation },
  { needs: ['webhookHosts'], run: webhooks },
  { needs: ['demo', 'roomMaxTtl', 'fileMax'], run: demonstration },
];

export const settingsChecks: readonly Check[] = [
  { name: 'settings', needs: [], run: values },
  { name: 'settings', needs: [], run: unknown },
  ...risks.map((risk): Check => ({ name: 'settings', ...risk })),
];

/** If keys are required, at least one must exist. */
export function checkKeys(
  { requireApiKey, create }: Pick<Config, 'requireApiKey' | 'create'>,
  keysInForce: number,
): Finding[] {
  if (keysInForce > 0 || (!requireApiKey && create !== 'key')) return [];
  const found = requireApiKey
    ? 'POPROOM_REQUIRE_API_KEY is true, but there is no key: all requests are rejected.'
    : 'POPROOM_CREATE is key, but there is no key: nobody can create rooms.';
  return [warning(found, 'Create a key: poproom keys create NAME')];
}
