/** A real browser. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launchBrowser(): Promise<Browser> {
  if (existsSync(executablePath)) return chromium.launch({ executablePath, args });
  throw new Error(`There is no browser at ${executablePath}: install one with "apt-get install -y chromium".`);
}
