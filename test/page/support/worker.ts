/** The page's service worker, and what other apps share by it. */
import type { Page } from 'playwright-core';

/** From here on the worker is between the page and the network, and has kept what it needs. */
export async function underWorker(page: Page): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
}

export interface Shared {
  title?: string;
  text?: string;
  url?: string;
  files?: { name: string; type?: string; content: string }[];
}

/** As the system's share sheet does: by a form, sent to the address that the manifest names. */
export async function shareFromElsewhere(page: Page, shared: Shared): Promise<void> {
  await underWorker(page);
  await submitShare(page, '/share', shared);
}

/** From the page that is open, whichever it is. */
export async function submitShare(page: Page, action: string, { files = [], ...words }: Shared): Promise<void> {
  const arrival = page.waitForURL(/\/(share)?$/);
  await page.evaluate(
    ({ action, words, files }) => {
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action, enctype: 'multipart/form-data' });
      for (const [name, value] of Object.entries(words)) {
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
      }
      const carried = new DataTransfer();
      for (const { name, type = '', content } of files) carried.items.add(new File([content], name, { type }));
      const field = Object.assign(document.createElement('input'), { type: 'file', name: 'files', multiple: true });
      field.files = carried.files;
      if (files.length > 0) form.append(field);
      document.body.append(form);
      form.submit();
    },
    { action, words, files },
  );
  await arrival;
}
