/** Links to a server on this machine that a phone in the same network can open. */
import { networkInterfaces } from 'node:os';
import { isThisMachine } from './connection-error.ts';

export interface SharedLink {
  link: string;
  /** For the user, if the link is not the one of the server, or works only on this machine. */
  note?: string;
}

/** The request goes to this machine, so a longer wait means that a firewall drops it. */
const probeMs = 1000;

/** Replaces localhost by the address of this machine in its network, if the server can be reached there. */
export async function toLanLink(link: string): Promise<SharedLink> {
  const url = new URL(link);
  if (!isThisMachine(url.hostname)) return { link };
  const address = lanAddress(networkInterfaces());
  if (address === undefined) return { link, note: 'The link works only on this machine, which is not in a network.' };
  const host = new URL(link);
  host.hostname = address;
  if (await isPoproom(host.href.replace(/\/r\/[^/]*$/, ''))) {
    const note = `The link has the address of this machine in its network, instead of ${url.hostname}.`;
    return { link: host.href, note };
  }
  const note = `The link works only on this machine: the server does not answer on ${host.host}; check POPROOM_HOST and the firewall.`;
  return { link, note };
}

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Prefers the addresses of home and office networks, and ignores those of containers, virtual machines and VPNs. */
export function lanAddress(interfaces: Interfaces): string | undefined {
  const addresses = Object.entries(interfaces)
    .filter(([name]) => !virtual.test(name))
    .flatMap(([, list = []]) => list)
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    .map(({ address }) => address);
  return addresses.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
}

const virtual =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|tun|tap|utun|wg|tailscale|zt|lxc|lxd|cni|flannel|podman)/i;
const preferred: readonly RegExp[] = [/^192\.168\./, /^10\./, /^172\.(1[6-9]|2\d|3[01])\./];

function rankOf(address: string): number {
  const rank = preferred.findIndex((range) => range.test(address));
  return rank < 0 ? preferred.length : rank;
}

/** `/livez` counts towards no limit. */
async function isPoproom(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(probeMs), redirect: 'error' });
    await response.body?.cancel();
    return response.ok && response.headers.has('X-Request-Id');
  } catch {
    return false;
  }
}
