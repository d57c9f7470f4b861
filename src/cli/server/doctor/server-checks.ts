/** The server itself, as people reach it: whether it answers, and whether all that it needs comes through. */
import type { Readiness } from '../../../protocol/types.ts';
import type { Address, Check, Look } from './check.ts';
import { clockFinding } from './clock.ts';
import { about, bad, type Finding, ok, warning } from './finding.ts';
import { aboutProxy } from './proxy-check.ts';
import { tryRoom } from './room-trial.ts';

const patienceMs = 10_000;

/** What can be told of an answering server needs several requests, in this order. */
const server: Look = async (_config, { address, apiKey, settings: { config } }) => {
  if (!address) return [];
  const before = Date.now();
  const answer = await ask(`${address.url}/readyz`);
  const after = Date.now();
  if (answer === undefined) return [nobodyThere(address)];
  const readiness = await readinessIn(answer);
  if (!readiness) return [someoneElse(address)];
  return [
    aboutReadiness(address, readiness),
    ...aboutClock(answer, before, after),
    about('cache', await aboutCache(address.url)),
    ...(await tryRoom(address.url, apiKey, config)),
    ...(await aboutProxy(address.url, answer, config)).map((finding) => about('proxy', finding)),
    ...(await aboutMetrics(address)),
  ];
};

const ask = (url: string) => fetch(url, { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined);

function nobodyThere({ url, from }: Address): Finding {
  if (from === 'PORT') return ok(`No server runs at ${url}; what shows only when one does was not looked at.`);
  const mend = 'Start the server, and look at the name, the certificate and the proxy.';
  const what = `Nothing answers at ${url}.`;
  return from === '--url' ? bad(what, mend) : warning(what, mend);
}

function someoneElse({ url, from }: Address): Finding {
  const mend = from === 'PORT' ? 'Choose another PORT.' : 'Look at the name, and at where the proxy sends requests.';
  return bad(`What answers at ${url} is no Poproom.`, mend);
}

async function readinessIn(answer: Response): Promise<Readiness | undefined> {
  const body = (await answer.json().catch(() => undefined)) as Partial<Readiness> | undefined;
  return typeof body?.checks === 'object' ? (body as Readiness) : undefined;
}

function aboutReadiness({ url }: Address, { checks }: Readiness): Finding {
  const wrong = Object.entries(checks).filter(([, verdict]) => verdict !== 'ok');
  if (wrong.length === 0) return ok(`The server at ${url} is ready.`);
  const said = wrong.map(([name, verdict]) => `${name} ${verdict}`).join(', ');
  return bad(`The server at ${url} is not ready: ${said}.`, 'Its log says more; so do the lines above.');
}

/** The header is of whole seconds. */
function aboutClock(answer: Response, before: number, after: number): Finding[] {
  const theirs = Date.parse(answer.headers.get('Date') ?? '') + 500;
  return Number.isNaN(theirs) ? [] : [clockFinding('the server', { theirs, before, after })];
}

/** Two answers that are the same one come from something that keeps them. */
async function aboutCache(url: string): Promise<Finding> {
  const [one, other] = [await ask(`${url}/api/health`), await ask(`${url}/api/health`)];
  const id = (answer: Response | undefined) => answer?.headers.get('X-Request-Id') ?? Math.random();
  if (!other?.headers.has('Age') && id(one) !== id(other)) return ok('Answers come fresh from the server.');
  return bad(
    'Something on the way keeps answers and gives them out again.',
    'Switch off caching for /api; every answer says Cache-Control: no-store.',
  );
}

async function aboutMetrics({ url, from }: Address): Promise<Finding[]> {
  if (from === 'PORT' || !(await ask(`${url}/metrics`))?.ok) return [];
  return [warning(`Anyone can read ${url}/metrics.`, 'Refuse that path at the proxy.')];
}

export const serverChecks: readonly Check[] = [{ name: 'server', needs: [], look: server }];
