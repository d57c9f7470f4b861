/** Files in the hands of a person at the page: picked, dropped, and looked at. */
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { chooseEntry } from '../../support/page.ts';

export interface LocalFile {
  name: string;
  type?: string;
  /** The content, or a number of bytes. */
  content: string | number | Buffer;
}

export const picture = await readFile(new URL('../../../web/public/assets/icon-192.png', import.meta.url));

/** By the button, and the system's own dialog. */
export async function pickFiles(page: Page, files: readonly LocalFile[]): Promise<void> {
  const [dialog] = await Promise.all([
    page.waitForEvent('filechooser'),
    chooseEntry(page, 'Choose files', 'Add files'),
  ]);
  await dialog.setFiles(
    files.map(({ name, type = '', content }) => ({
      name,
      mimeType: type,
      buffer: typeof content === 'number' ? Buffer.alloc(content, 'x') : Buffer.from(content),
    })),
  );
}

/** The field for files, which the page adds when the menu is first opened. */
export async function fileInput(page: Page): Promise<Locator> {
  const input = page.locator('input[type="file"]').first();
  if ((await input.count()) === 0) {
    await page.getByRole('button', { name: 'Add files' }).click();
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Escape');
  }
  return input;
}

/** Carries files over an element, and lets them go there where `letGo` is not false. */
export async function dropFiles(
  page: Page,
  selector: string,
  files: readonly LocalFile[],
  { letGo = true } = {},
): Promise<void> {
  const carried = files.map(({ name, type = '', content }) => ({
    name,
    type,
    bytes: typeof content === 'number' ? content : [...Buffer.from(content)],
  }));
  await page.locator(selector).evaluate(
    (element, { carried, letGo }) => {
      const dataTransfer = new DataTransfer();
      for (const { name, type, bytes } of carried) {
        dataTransfer.items.add(
          new File([typeof bytes === 'number' ? new Uint8Array(bytes) : Uint8Array.from(bytes)], name, { type }),
        );
      }
      for (const step of letGo ? ['dragenter', 'dragover', 'drop'] : ['dragenter', 'dragover']) {
        element.dispatchEvent(new DragEvent(step, { dataTransfer, bubbles: true, cancelable: true }));
      }
    },
    { carried, letGo },
  );
}

/** The row of a file, uploaded or in progress. */
export const rowOf = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

/** Waits until the room has it. */
export const arrived = (page: Page, name: string) =>
  page.getByRole('link', { name: `Download ${name}`, exact: true }).waitFor();

export interface SlowNetwork {
  /** That of the browser context has no effect on a page with a limit. */
  setOffline(isOffline: boolean): Promise<void>;
  /** Sets another limit, in bytes per second. */
  limit(bytesPerSecond: number): Promise<void>;
  /** Removes the limit. */
  restore(): Promise<void>;
}

/** Limits uploads to a number of bytes per second. */
export async function slowDown(page: Page, bytesPerSecond: number): Promise<SlowNetwork> {
  const session = await page.context().newCDPSession(page);
  const set = async (offline: boolean, uploadThroughput: number) => {
    const conditions = { offline, uploadThroughput, latency: 0, downloadThroughput: -1 };
    await session.send('Network.emulateNetworkConditions', conditions);
  };
  await set(false, bytesPerSecond);
  return {
    setOffline: (isOffline) => set(isOffline, bytesPerSecond),
    limit: (other) => set(false, other),
    restore: () => set(false, -1),
  };
}
