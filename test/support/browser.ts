/** A real browser. */
import { type Browser, chromium } from 'playwright-core';
import { chromiumMissing, findChromium } from './chromium.ts';

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Accepts more command-line switches for tests that need them. */
export async function launchBrowser(switches: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(chromiumMissing);
  return chromium.launch({ executablePath, args: [...args, ...switches] });
}
