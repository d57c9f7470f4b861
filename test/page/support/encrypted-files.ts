/** Files of encrypted rooms in tests of the page. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Download, Page } from 'playwright-core';
import { createClient, type Room } from '../../../src/client/index.ts';
import type { TestSite } from '../../support/page.ts';
import { type LocalFile, rowOf } from './files.ts';

const mebibyte = 1024 * 1024;
/** Sent in several parts. */
const largeBytes = 6 * mebibyte;
/** Different in each chunk, and found as a text in what is sent. */
export const large = Buffer.from('The quick secret. '.repeat(Math.ceil(largeBytes / 18))).subarray(0, largeBytes);

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
export const nameButton = (page: Page, name: string) => page.locator('.file-name').getByText(name, { exact: true });
export const arrived = (page: Page, name: string) => button(page, `Download ${name}`).waitFor();
export const alert = (page: Page, name: string) => rowOf(page, name).getByRole('alert');
export const viewer = (page: Page) => page.getByRole('dialog');
export const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export const createRoom = ({ server }: TestSite) =>
  createClient({ url: server.url, deviceId: 'script', deviceName: 'Script' }).createRoom({ encrypted: true });
export const pathOf = ({ code, link }: Room) => `${code}#${link.split('#')[1] ?? assert.fail(link)}`;

export async function bytesOf(download: Download): Promise<Buffer> {
  return readFile(await download.path());
}

export async function downloaded(page: Page, start: () => Promise<void>): Promise<Download> {
  // The page decrypts the whole file first.
  const [download] = await Promise.all([page.waitForEvent('download', { timeout: 100_000 }), start()]);
  return download;
}

/** The last one is on top of the list. */
export async function addFiles(room: Room, files: readonly LocalFile[]): Promise<void> {
  for (const { name, type, content } of files)
    await room.upload(new Blob([Buffer.from(content as string)]), { name, type });
}
