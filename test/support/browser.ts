/** A real browser. */
import { type Browser, chromium } from 'playwright-core';
import { chromiumMissing, findChromium, findFullChromium } from './chromium.ts';

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // For tests of pages without HTTPS: browsers trust addresses of their own machine.
  '--host-resolver-rules=MAP *.test 127.0.0.1',
];

/** Accepts more command-line switches for tests that need them. */
export async function launchBrowser(switches: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(chromiumMissing);
  return chromium.launch({ executablePath, args: [...args, ...switches] });
}

/** With the viewer for PDF files. Undefined if it is not installed. */
export async function launchFullBrowser(): Promise<Browser | undefined> {
  const executablePath = findFullChromium();
  return executablePath === undefined ? undefined : chromium.launch({ executablePath, args });
}
