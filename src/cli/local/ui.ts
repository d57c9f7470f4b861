/** `poproom ui`: opens the page of this installation in a browser, and connects it to the chosen server. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { offlineError, PoproomError } from '../../client/error.ts';
import { createTransport } from '../../client/transport.ts';
import type { ServerLimits } from '../../http/page/server-limits.ts';
import { startLocalPage } from '../../local-page/server.ts';
import { areValues, createPageValues, type KeptValues, type Values } from '../../local-page/values.ts';
import { builtPage } from '../../server.ts';
import type { Input } from '../command.ts';
import { type Environment, isInstalled, type Program, readEnvironment } from '../environment.ts';
import { ignoreExit, UsageError, untilInterrupted } from '../errors.ts';
import { keepsRecentRooms, openEncryptedRooms, serverIdOf } from '../known-rooms.ts';
import { printNotice } from '../output.ts';
import { readStateFile, rememberServer, writeJson } from '../preferences.ts';
import { type ChosenServer, chooseServer, explainOffline, readRoom, timeoutOf, toLanLink } from '../server-context.ts';

export async function ui(input: Input): Promise<void> {
  const environment = readEnvironment();
  const room = input.args[0] === undefined ? undefined : await readRoom(input.args[0]);
  const server = chooseServer(environment, input.value('url'), room?.url);
  const port = portIn(input);
  const limits = await limitsOf(server, timeoutOf(input, environment));
  rememberServer(environment, server.url);
  const keptKey = () => room && openEncryptedRooms(environment).find(server.url, room.code)?.key;
  const key = room && (room.key ?? environment.roomKey ?? keptKey());
  let isWarned = false;
  await untilInterrupted(async (signal) => {
    const page = await startLocalPage({
      ...server,
      ...connectionNotices(server.url),
      server: serverIdOf(server.url),
      page: builtPage,
      limits,
      shareUrl: await shareUrlOf(environment, server.url),
      port,
      startPath: room ? `/r/${room.code}` : '/',
      values: createPageValues(keptValues(environment, server.url), room && key ? keyOf(room.code, key) : {}),
      onRefusedToken() {
        if (!isWarned) printNotice(usedLink);
        isWarned = true;
      },
    }).catch(explainPort);
    console.log(page.link);
    const isOpened = !input.isSet('no-open') && openBrowser(environment, page.link);
    printNotice(isOpened ? openedNotice : linkNotice);
    if (!signal.aborted) await once(signal, 'abort');
    await page.close();
  }).catch(ignoreExit);
}

const linkNotice = 'Open this link in your browser. It works once. Press Ctrl-C to stop.';
const openedNotice =
  'The page opens in your browser. If not, open this link there; it works once. Press Ctrl-C to stop.';
const usedLink =
  'Someone tried to open the page with a link that was used already or is wrong. If that was not you, press Ctrl-C and start again.';

function portIn(input: Input): number {
  const text = input.value('port') ?? '0';
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new UsageError(`"${text}" is not a valid port; use a number from 1 to 65535.`);
}

function explainPort(error: NodeJS.ErrnoException & { port?: number }): never {
  if (error.code === 'EADDRINUSE') throw new UsageError(`Port ${error.port} is in use; choose another one.`);
  if (error.code === 'EACCES') throw new UsageError(`Port ${error.port} needs the rights of an administrator.`);
  throw error;
}

/** The page shows them. The request also finds out whether the server can be reached. */
async function limitsOf({ url, apiKey }: ChosenServer, timeoutSeconds: number | undefined): Promise<ServerLimits> {
  const transport = createTransport({ url, apiKey, withRetry: (attempt) => attempt() });
  const signal = timeoutSeconds === undefined ? undefined : AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    return await transport.call('/api/limits', areLimits, { signal });
  } catch (error) {
    if (error instanceof PoproomError && error.code !== 'OFFLINE') throw error;
    throw explainOffline(error instanceof PoproomError ? error : offlineError(error), url);
  }
}

const shownLimits = ['roomLifetimeSeconds', 'roomMaxLifetimeSeconds', 'textBytes', 'fileBytes'] as const;

const areLimits = (value: unknown): value is ServerLimits =>
  shownLimits.every((name) => Number.isSafeInteger((value as Partial<ServerLimits> | null | undefined)?.[name]));

/** One line when the connection to the server is lost, and one when it is back. */
function connectionNotices(url: string): { onFailure(error: Error): void; onResponse(): void } {
  let isLost = false;
  return {
    onFailure(error) {
      if (!isLost) console.error(`poproom: ${explainOffline(offlineError(error), url).message}`);
      isLost = true;
    },
    onResponse() {
      if (isLost) console.error(`poproom: Connected to ${url} again.`);
      isLost = false;
    },
  };
}

/** As the page stores the key of a tab. */
const keyOf = (code: string, key: string): Values => ({ [`poproom:key:${code}`]: JSON.stringify(key) });

/** For other devices, which cannot reach a server by the name localhost. */
async function shareUrlOf({ usesLanLinks }: Environment, url: string): Promise<string> {
  const own = serverIdOf(url);
  return usesLanLinks ? (await toLanLink(`${own}/r/`)).link.replace(/\/r\/$/, '') : own;
}

/** In the state folder, one file for each server; in memory if recent rooms are not to be kept. */
function keptValues(environment: Environment, url: string): KeptValues {
  const id = createHash('sha256').update(serverIdOf(url)).digest('hex').slice(0, 16);
  const file = join(environment.stateFolder, 'ui', `${id}.json`);
  if (!keepsRecentRooms(environment)) {
    let inMemory: Values = {};
    const write = (values: Values) => {
      inMemory = values;
    };
    return { read: () => inMemory, write };
  }
  return {
    read: () => readStateFile(file, {}, (values: unknown) => (areValues(values) ? values : {})),
    write: (values) => writeJson(file, values),
  };
}

/** Returns whether a browser was started. The link in its arguments works once, and has neither code nor key. */
function openBrowser(environment: Environment, link: string): boolean {
  const program = browsers(environment).find((candidate) => isInstalled(environment, candidate));
  if (!program) return false;
  const [name, ...args] = program;
  const child = spawn(name, [...args, link], { stdio: 'ignore', detached: true });
  child.on('error', () => printNotice('No browser could be started.'));
  child.unref();
  return true;
}

function browsers({ desktop }: Environment): Program[] {
  if (process.platform === 'darwin') return [['open']];
  if (process.platform === 'win32') return [['rundll32.exe', 'url.dll,FileProtocolHandler']];
  const programs: Program[] = desktop.wayland || desktop.x11 ? [['xdg-open']] : [];
  return desktop.wsl ? [['wslview'], ...programs] : programs;
}
