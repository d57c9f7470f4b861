/** `poproom ui` as a person starts it. */
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { type Cli, type CliProcess, createCli } from './cli.ts';
import type { BrowserDevice, TestSite } from './page.ts';

export interface LocalPage {
  readonly command: CliProcess;
  readonly cli: Cli;
  /** The link of the command, which works once. */
  readonly link: string;
  readonly origin: string;
}

interface Options {
  args?: readonly string[];
  env?: Record<string, string>;
  /** The home folder of an earlier start. */
  cli?: Cli;
}

export async function startLocalPage(t: TestContext, url: string, options: Options = {}): Promise<LocalPage> {
  const cli = options.cli ?? (await createCli(t));
  const env = { POPROOM_URL: url, POPROOM_LAN_LINK: 'off', ...options.env };
  const command = cli.start(['ui', '--no-open', ...(options.args ?? [])], { env });
  await command.waitForOutput(/http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]+\n/);
  const link = command.stdout().trim();
  return { command, cli, link, origin: new URL(link).origin };
}

/** Opens the page in a new browser, which then has its cookie. */
export async function openLocalPage(site: TestSite, { link }: LocalPage): Promise<BrowserDevice> {
  // Another test may have left the page on the server.
  const device = await site.openDevice({ at: 'about:blank' });
  await device.page.goto(link);
  await shown(device.page);
  return device;
}

/** Waits for the first view. */
export async function shown(page: Page): Promise<void> {
  await page.locator('header.top').waitFor();
}

/** The URL of the page, without a slash at the end. */
export const baseOf = (page: Page): string => /^http:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(page.url())?.[0] ?? '';
