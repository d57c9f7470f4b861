/** `poproom doctor`: checks the setup of the server and suggests fixes. */

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Config, demoNote, inspectConfig, settingNames } from '../../config.ts';
import { CertificateError, expiryOf, loadCertificate } from '../../http/certificate.ts';
import { hiddenAdmin, pathRemovedFix } from '../../http/urls.ts';
import type { CreationMode } from '../../protocol/limits.ts';
import { bare, isPermitted, type WebhookHost } from '../../webhooks/hosts.ts';
import { type Input, nearestName } from '../command.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { exitCode, UsageError } from '../errors.ts';
import { print, printable } from '../output.ts';
import { parseServerUrl } from '../server-context.ts';
import {
  bad,
  type Check,
  check,
  type DoctorContext,
  type Finding,
  ok,
  type ServerAddress,
  warnIf,
  warning,
} from './doctor/check.ts';
import { serverChecks } from './doctor/server-checks.ts';
import { storageChecks } from './doctor/storage-checks.ts';

export async function doctor(input: Input): Promise<void> {
  if (input.args.length > 0)
    throw new UsageError(`"poproom doctor" takes no arguments, but got "${input.args[0]}"; see poproom doctor --help.`);
  const environment = readEnvironment();
  const findings = await runChecks(createContext(input, environment));
  report(input, findings, environment);
  if (findings.some(({ verdict }) => verdict === 'bad')) process.exitCode = 1;
  else if (findings.some(({ skipped = 0 }) => skipped > 0)) process.exitCode = exitCode.unreachable;
}

function createContext(input: Input, { apiKey, createPassword }: Environment): DoctorContext {
  const settings = inspectConfig();
  const url = input.value('url');
  const address = url
    ? ({ url: parseServerUrl(url).replace(/\/+$/, ''), from: '--url' } as const)
    : configuredAddress(settings.config);
  return { settings, address, apiKey, createPassword };
}

/** Undefined if the server chooses its port. */
function configuredAddress({ publicUrl, port, host, tlsCert }: Partial<Config>): ServerAddress | undefined {
  if (publicUrl) return { url: publicUrl, from: 'POPROOM_PUBLIC_URL' };
  if (!port) return undefined;
  const isWildcard = host === undefined || host === '0.0.0.0' || host === '::';
  const name = isWildcard ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return { url: `${tlsCert ? 'https' : 'http'}://${name}:${port}`, from: 'PORT' };
}

/** Runs all checks concurrently, and returns the findings in the order of the checks. */
async function runChecks(context: DoctorContext): Promise<CheckFinding[]> {
  const { config } = context.settings;
  // The settings of the caller say nothing about a server that is named by its URL.
  const chosen =
    context.address?.from === '--url' ? serverChecks : [...settingsChecks, ...storageChecks, ...serverChecks];
  const runnable = chosen.filter(({ needs }) => needs.every((key) => key in config));
  const all = runnable.map(async ({ name, run }) => {
    const findings = await Promise.try(run, config as Config, context).catch((error) => [failedCheck(error)]);
    return findings.map((finding) => ({ check: name, ...finding }));
  });
  return (await Promise.all(all)).flat();
}

/** Shows only the code of the error, because its message may contain a URL with a password. */
const failedCheck = (error: NodeJS.ErrnoException): Finding =>
  bad(`The check failed (${error.code ?? error.name}).`, 'This is a bug in Poproom; please report it.');

type CheckFinding = Finding & { check: string };

const marks: Record<Finding['verdict'], { mark: string; color: string }> = {
  ok: { mark: '✓', color: '32' },
  warning: { mark: '!', color: '33' },
  bad: { mark: '✗', color: '31' },
};

/** Prints the findings: a mark and a sentence each, and the fix below it. */
function report(input: Input, findings: readonly CheckFinding[], { wantsColor }: Environment): void {
  const isColored = wantsColor && process.stdout.isTTY;
  const lines = findings.map((finding) => linesOf(finding, isColored));
  print(input, findings, `${lines.join('\n')}\n\n${summary(findings)}`);
}

function linesOf({ check, verdict, found, fix }: CheckFinding, isColored: boolean): string {
  const { mark, color } = marks[verdict];
  const sign = isColored ? `\x1b[${color}m${mark}\x1b[0m` : mark;
  const lines = [`${sign} ${check.padEnd(8)}  ${printable(found)}`];
  if (fix) lines.push(`${' '.repeat(12)}${printable(fix)}`);
  return lines.join('\n');
}

function summary(findings: readonly CheckFinding[]): string {
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const [problems, warnings] = [count('bad'), count('warning')];
  const skipped = findings.reduce((sum, { skipped = 0 }) => sum + skipped, 0);
  const rest = skipped > 0 ? [`The server is not running; ${skipped} checks were skipped.`] : [];
  if (problems + warnings > 0) return [`Problems: ${problems}. Warnings: ${warnings}.`, ...rest].join(' ');
  return rest[0] ?? 'No problems found.';
}

const settingsCheck = (needs: Check['needs'], run: Check['run']) => check('settings', needs, run);

const values = settingsCheck([], (_config, { settings }) => {
  const doubtful = settings.warnings.map((found) => warning(found, 'Remove one of them.'));
  const problems = settings.problems.map((found) => bad(`${found}.`, '"poproom serve --help" lists all settings.'));
  return [...(problems.length === 0 ? [ok('All settings are valid.')] : problems), ...doubtful];
});

const unknown = settingsCheck([], (_config, { settings }) =>
  settings.unknown.map((name) => {
    const meant = nearestName(name, settingNames);
    const fix = meant ? `Did you mean ${meant}?` : 'Remove it; "poproom serve --help" lists all settings.';
    return warning(`${name} is not a known setting.`, fix);
  }),
);

const secret = settingsCheck(['secret'], ({ secret }) => {
  const fix = 'Generate one with "openssl rand -hex 32"; the PINs of existing rooms then become invalid.';
  return warnIf(Boolean(secret && secret.length < 32), 'POPROOM_SECRET is short.', fix);
});

const certificate = settingsCheck(['tlsCert', 'tlsKey'], ({ tlsCert, tlsKey }) => {
  if (!tlsCert || !tlsKey) return [];
  try {
    const expiresAt = expiryOf(loadCertificate({ certFile: tlsCert, keyFile: tlsKey }));
    const daysLeft = Math.floor((expiresAt - Date.now()) / 86_400_000);
    const renew = 'Renew it; the server reloads the files automatically.';
    if (daysLeft < 0) return [bad('The TLS certificate has expired.', renew)];
    if (daysLeft < 14) return [warning(`The TLS certificate expires in ${daysLeft} days.`, renew)];
    return [ok(`The TLS certificate is valid for ${daysLeft} days.`)];
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    return [bad(error.message, 'Correct POPROOM_TLS_CERT and POPROOM_TLS_KEY.')];
  }
});

/** TLS is not needed on local networks. */
const publicUrl = settingsCheck(['publicUrl', 'trustedProxies'], ({ publicUrl, trustedProxies }) => {
  if (publicUrl === undefined) {
    const found = 'There is a trusted proxy but no POPROOM_PUBLIC_URL: links are built from request headers.';
    return warnIf(trustedProxies.rules.length > 0, found, 'Set POPROOM_PUBLIC_URL to the URL that clients use.');
  }
  const isOpen = !publicUrl.startsWith('https:') && !isLocal(new URL(publicUrl).hostname);
  const found =
    'POPROOM_PUBLIC_URL is not https: PINs and texts are sent unencrypted, and pages cannot use the camera.';
  return warnIf(isOpen, found, 'Put a proxy with TLS in front of the server; see docs/operations.md.');
});

const adminPath = settingsCheck(['publicUrl', 'pathRemoved', 'adminToken'], (config) => {
  const found = hiddenAdmin(config);
  return found ? [warning(found, pathRemovedFix)] : [];
});

const isLocal = (host: string) =>
  /^(localhost|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|\[.*|[^.]+|.*\.(local|lan|localhost|internal))$/.test(
    host,
  );

const proxies = settingsCheck(['trustedProxies'], ({ trustedProxies }) => {
  const publicAddresses = ['203.0.113.7', '198.51.100.7', '8.8.8.8'];
  if (!publicAddresses.every((address) => trustedProxies.check(address))) return [];
  const found = 'POPROOM_TRUSTED_PROXIES trusts every address: clients can forge theirs and evade all limits.';
  return [bad(found, 'List only the addresses of your proxies.')];
});

const guessing = settingsCheck(['missLimit'], ({ missLimit }) => {
  const found = 'POPROOM_MISS_LIMIT is 0: room codes can be guessed without a limit.';
  return warnIf(missLimit === 0, found, 'Leave it unset, or set it to 20.');
});

const unboundedClients = settingsCheck(['clientMaxBytes'], ({ clientMaxBytes }) => {
  const found = 'POPROOM_CLIENT_MAX_BYTES is 0: one address can use up all storage for files.';
  return warnIf(clientMaxBytes === 0, found, 'Leave it unset, or set it to a size such as 500MiB.');
});

const sharedFiles = settingsCheck(['store', 'files'], ({ store, files }) => {
  const isMixed = store !== 'sqlite:' && (files === 'disk:' || 'folder' in files);
  const found = 'Rooms are in Redis but files on this disk: with several servers, each has only its own files.';
  return warnIf(isMixed, found, 'With more than one server, set POPROOM_FILES to an s3:// bucket.');
});

/** Tells operators which clients may create rooms. */
const creation = settingsCheck(['create', 'userHeader', 'requireApiKey'], ({ create, userHeader, requireApiKey }) => {
  const creators: Record<CreationMode, string> = {
    open: 'Everyone',
    key: 'Only clients with an API key',
    password: 'Only clients with the password or an API key',
    proxy: `Only users whom a trusted proxy names in ${userHeader}, and clients with an API key,`,
  };
  const joining = requireApiKey ? 'Joining a room needs an API key too.' : 'Everyone with a code can join.';
  return [ok(`${creators[create]} may create rooms. ${joining}`)];
});

/** Tells operators where members of rooms can make the server send requests. */
const webhooks = settingsCheck(['webhookHosts'], async ({ webhookHosts }) => {
  if (webhookHosts.length === 0) return [];
  const names = webhookHosts.map((host) => `${host.isWildcard ? '*.' : ''}${host.host}`).join(', ');
  const found = await Promise.all(webhookHosts.map(checkWebhookHost));
  return [ok(`Webhooks may be sent to ${names}.`), ...found.flat()];
});

async function checkWebhookHost(entry: WebhookHost): Promise<Finding[]> {
  const { host, isWildcard } = entry;
  if (isWildcard && !host.includes('.')) {
    const found = `POPROOM_WEBHOOK_HOSTS allows every host below .${host}.`;
    return [warning(found, 'Name the hosts, or the domain that you trust.')];
  }
  if (isWildcard || isIP(bare(host))) return [];
  const name = `${host} in POPROOM_WEBHOOK_HOSTS`;
  try {
    const addresses = await lookup(host, { all: true });
    if (addresses.some(({ address }) => isPermitted(entry, address))) return [];
    const refused = `has only addresses that are not allowed, such as ${addresses[0]?.address}`;
    return [warning(`${name} ${refused}.`, `If it is in your own network, write private:${host}.`)];
  } catch {
    return [warning(`${name} cannot be resolved.`, 'Correct the name, or the DNS of this machine.')];
  }
}

const demonstration = settingsCheck(['demo', 'roomMaxTtl', 'fileMax'], (config) =>
  config.demo ? [ok(demoNote(config))] : [],
);

const risks = [secret, certificate, publicUrl, adminPath, proxies, guessing, unboundedClients, sharedFiles];

const settingsChecks = [values, unknown, ...risks, creation, webhooks, demonstration];
