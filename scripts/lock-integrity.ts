/**
 * Adds the hashes to package-lock.json that npm left out: it writes none for packages of other platforms that its
 * registry did not have. Run it with a complete registry; it says what is still missing.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

type Locked = { version: string; integrity?: string };

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, Locked> };

for (const [at, locked] of Object.entries(lock.packages)) {
  if (at === '' || locked.integrity) continue;
  const name = at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const integrity = integrityOf(`${name}@${locked.version}`);
  console.log(`${name}@${locked.version}: ${integrity ?? 'the registry does not have it'}`);
  const { version, ...rest } = locked;
  if (integrity) lock.packages[at] = { version, integrity, ...rest };
}
writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);

function integrityOf(spec: string): string | undefined {
  try {
    return (
      execFileSync('npm', ['view', spec, 'dist.integrity'], { encoding: 'utf8', stdio: 'pipe' }).trim() || undefined
    );
  } catch {
    return undefined;
  }
}
