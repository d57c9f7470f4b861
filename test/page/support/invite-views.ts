/** The views for inviting a screen. */
import type { ShowView } from './views.ts';

const invitation = '7KQ2MX.j0DFrbaPJWJK5bIU6nZ6bslNgp09e14a0bpvPiE4KF8.QEFCQ0RFRkdISUpLTE1OTw';

export const inviteViews: Record<string, ShowView> = {
  'screen to invite': async (page, translate) => {
    await page.goto('/invite');
    await page
      .getByRole('img', { name: translate('screenQr') })
      .locator('path[d^="M"]')
      .waitFor();
  },
  'answer to an invitation': async (page, translate) => {
    await page.goto('/');
    await page.goto(`/invite#${invitation}`);
    await page.getByRole('heading', { name: translate('answerTitle') }).waitFor();
  },
  'used invitation': async (page, translate) => {
    await page.goto('/');
    await page.goto(`/invite#${invitation}`);
    await page.getByRole('button', { name: translate('start') }).click();
    await page.getByRole('heading', { name: translate('answerInvalid') }).waitFor();
  },
};
