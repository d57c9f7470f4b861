/** Types before the page has painted. */
import type { Page } from 'playwright-core';

/** In the next document of the page, types into the field as soon as it exists, before the next frame. */
export async function typeWhenVisible(page: Page, field: string, text: string): Promise<void> {
  await page.addInitScript(
    ({ field, text }) => {
      const observer = new MutationObserver(() => {
        const found = document.querySelector<HTMLInputElement | HTMLTextAreaElement>(field);
        if (!found) return;
        observer.disconnect();
        found.setRangeText(text, 0, 0, 'end');
        found.dispatchEvent(new InputEvent('input', { bubbles: true }));
      });
      observer.observe(document, { childList: true, subtree: true });
    },
    { field, text },
  );
}
