/** Common tus clients in a page, as `globalThis.tusClients`. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'rolldown';
import type { TusClients } from './tus-clients-in-page.ts';

export type WithTusClients = typeof globalThis & { tusClients: TusClients; onSent: (bytes: number) => void };

export async function loadTusClients(page: Page): Promise<void> {
  const input = fileURLToPath(new URL('tus-clients-in-page.ts', import.meta.url));
  const output = { format: 'iife', name: 'inPage' } as const;
  const bundle = await build({ input, write: false, platform: 'browser', logLevel: 'warn', output });
  await page.evaluate(`${bundle.output[0].code}; globalThis.tusClients = inPage.tusClients; undefined`);
}
