/** The service worker of the page, and content that other apps share with it. */
import type { Page } from 'playwright-core';

/** Waits until the service worker is active and has cached its files. */
export async function waitForServiceWorker(page: Page): Promise<void> {
  // Not by frames, the default: a page in the background draws none.
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated', undefined, {
    polling: 100,
  });
}

export interface SharedContent {
  title?: string;
  text?: string;
  url?: string;
  files?: { name: string; type?: string; content: string }[];
}

/** Submits a form to the URL in the manifest, like the share sheet of the system. */
export async function shareFromOtherApp(page: Page, shared: SharedContent): Promise<void> {
  await waitForServiceWorker(page);
  await submitShare(page, '/share', shared);
}

/** Submits the form from the current page. */
export async function submitShare(page: Page, action: string, { files = [], ...fields }: SharedContent): Promise<void> {
  const navigation = page.waitForURL(/\/(share)?$/);
  await page.evaluate(
    ({ action, fields, files }) => {
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action, enctype: 'multipart/form-data' });
      for (const [name, value] of Object.entries(fields)) {
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
      }
      const transfer = new DataTransfer();
      for (const { name, type = '', content } of files) transfer.items.add(new File([content], name, { type }));
      const field = Object.assign(document.createElement('input'), { type: 'file', name: 'files', multiple: true });
      field.files = transfer.files;
      if (files.length > 0) form.append(field);
      document.body.append(form);
      form.submit();
    },
    { action, fields, files },
  );
  await navigation;
}
