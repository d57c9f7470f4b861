/** Someone who types faster than the page paints. */
import type { Page } from 'playwright-core';

/** Types into the field as soon as it is there, before the next frame. For the next document of the page. */
export async function typeOnSight(page: Page, field: string, text: string): Promise<void> {
  await page.addInitScript(
    ({ field, text }) => {
      const sight = new MutationObserver(() => {
        const found = document.querySelector<HTMLInputElement | HTMLTextAreaElement>(field);
        if (!found) return;
        sight.disconnect();
        found.setRangeText(text, 0, 0, 'end');
        found.dispatchEvent(new InputEvent('input', { bubbles: true }));
      });
      sight.observe(document, { childList: true, subtree: true });
    },
    { field, text },
  );
}
