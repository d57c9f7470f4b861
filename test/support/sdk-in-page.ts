/** The SDK in a page, as `globalThis.sdk`. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'rolldown';
import type * as Sdk from '../../src/client/index.ts';

export type WithSdk = typeof globalThis & { sdk: typeof Sdk };

export async function loadSdk(page: Page): Promise<void> {
  const input = fileURLToPath(new URL('../../src/client/index.ts', import.meta.url));
  const format = { format: 'iife', name: 'sdk', codeSplitting: false } as const;
  const { output } = await build({ input, write: false, logLevel: 'warn', output: format });
  await page.evaluate(`${output[0].code}; globalThis.sdk = sdk; undefined`);
}
