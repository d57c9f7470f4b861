/** Firefox, by WebDriver BiDi. */
import type { ElementHandle } from 'puppeteer-core';
import puppeteer from 'puppeteer-core';
import type { BrowserPage, OtherBrowser } from './other-browser.ts';

export async function launchFirefox(executablePath: string): Promise<OtherBrowser> {
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
  return {
    name: await browser.version(),
    async open(url) {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => {
        if (/Content-Security-Policy|Uncaught/i.test(message.text())) errors.push(message.text());
      });
      await page.goto(url);
      return {
        evaluate: (expression) => page.evaluate(expression),
        click: (selector) => page.locator(selector).click(),
        type: (text) => page.keyboard.type(text),
        async undo() {
          await page.keyboard.down('Control');
          await page.keyboard.press('z');
          await page.keyboard.up('Control');
        },
        async pick(selector, path) {
          const field = (await page.waitForSelector(selector)) as ElementHandle<HTMLInputElement>;
          await field.uploadFile(path);
        },
        async reload() {
          await page.reload();
        },
        errors: () => errors,
      } satisfies BrowserPage;
    },
    close: () => browser.close(),
  };
}
