/** `poproom doctor`: looks whether everything that the server needs is as it should be. */
import { type Config, inspectConfig } from '../../config.ts';
import type { Input } from '../command.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { checkedUrl } from '../server-context.ts';
import { UsageError } from '../usage-error.ts';
import type { Address, Check, Patient } from './doctor/check.ts';
import { filesChecks } from './doctor/files-checks.ts';
import { bad, type Finding } from './doctor/finding.ts';
import { type Named, report } from './doctor/report.ts';
import { serverChecks } from './doctor/server-checks.ts';
import { settingsChecks } from './doctor/settings-checks.ts';
import { storeChecks } from './doctor/store-checks.ts';

const checks: readonly Check[] = [...settingsChecks, ...storeChecks, ...filesChecks, ...serverChecks];

export async function doctor(input: Input): Promise<void> {
  if (input.args.length > 0) throw new UsageError(`"poproom doctor" takes no "${input.args[0]}"; see its --help.`);
  const environment = readEnvironment();
  const findings = await examine(patientOf(input, environment));
  report(input, findings, environment);
  if (findings.some(({ verdict }) => verdict === 'bad')) process.exitCode = 1;
}

function patientOf(input: Input, { apiKey }: Environment): Patient {
  const settings = inspectConfig();
  const said = input.value('url');
  const address = said
    ? ({ url: checkedUrl(said).replace(/\/+$/, ''), from: '--url' } as const)
    : addressIn(settings.config);
  return { settings, address, apiKey };
}

/** Undefined where any port will do. */
function addressIn({ publicUrl, port, host }: Partial<Config>): Address | undefined {
  if (publicUrl) return { url: publicUrl, from: 'POPROOM_PUBLIC_URL' };
  if (!port) return undefined;
  const isAnywhere = host === undefined || host === '0.0.0.0' || host === '::';
  const name = isAnywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${port}`, from: 'PORT' };
}

/** All at once; what they find is told in the order of the table. */
async function examine(patient: Patient): Promise<Named[]> {
  const { config } = patient.settings;
  const able = checks.filter(({ needs }) => needs.every((key) => key in config));
  const all = able.map(async ({ name, look }) => {
    const findings = await Promise.try(look, config as Config, patient).catch((error) => [unlooked(error)]);
    return findings.map((finding) => ({ check: name, ...finding }));
  });
  return (await Promise.all(all)).flat();
}

/** Only the code of an error: what it says may hold an address with a password. */
function unlooked(error: NodeJS.ErrnoException): Finding {
  return bad(`It could not be looked at (${error.code ?? error.name}).`, 'Please report this: it should not happen.');
}
