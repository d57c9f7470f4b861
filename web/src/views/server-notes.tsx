/** Notes of the operator on every view: that the server is a demonstration, and where to report abuse. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { PoproomError } from '../../../src/client/error.ts';
import type { RoomBase } from '../../../src/client/room.ts';
import { maxReportComment, type ReportReason } from '../../../src/protocol/limits.ts';
import { Button, Problem } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import { RadioGroup } from '../components/form-fields.tsx';
import { Icon } from '../components/icon.tsx';
import { notify } from '../components/notices.tsx';
import { t } from '../i18n/all-strings.ts';
import { errorMessage } from '../i18n/error-message.ts';
import { exactTime, size } from '../i18n/quantities.ts';
import { limits } from '../page-settings.ts';
import { toPoproomError } from '../server-connection.ts';
import '../style/server-notes.css';

/** On a public demonstration. */
export function DemoBanner() {
  return (
    <p class="alert demo-banner" role="note">
      <Icon name="clock" />
      <span>{t('demoBanner', { time: exactTime(limits.roomMaxTtl), size: size(limits.fileMax) })}</span>
    </p>
  );
}

type Reportable = { requests(): Promise<Pick<RoomBase, 'report'>> };

/** In a room that can be reported, opens the form. Otherwise leads to the contact. */
export function AbuseContact({ room }: { room?: Reportable }) {
  const isOpen = useSignal(false);
  return (
    <>
      <p class="abuse-contact">
        {room && limits.reports ? (
          <button type="button" class="link-button" onClick={() => (isOpen.value = true)}>
            {t('reportRoom')}
          </button>
        ) : (
          <a href={contactLink}>{t('reportAbuse')}</a>
        )}
      </p>
      {room && isOpen.value && <ReportDialog room={room} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

const { abuseContact = '' } = limits;
const contactLink = abuseContact.startsWith('https:') ? abuseContact : `mailto:${abuseContact}`;

function ReportDialog({ room, onClose }: { room: Reportable; onClose: () => void }) {
  const reason = useSignal<ReportReason>('malware');
  const field = useRef<HTMLTextAreaElement>(null);
  const state = useSignal<'ready' | 'sending' | { problem: string }>('ready');
  const reasons: (readonly [ReportReason, string])[] = [
    ['malware', t('reportMalware')],
    ['illegal', t('reportIllegal')],
    ['harassment', t('reportHarassment')],
    ['copyright', t('reportCopyright')],
    ['other', t('reportOther')],
  ];

  async function onSubmit(event: Event): Promise<void> {
    // The dialog closes when the server has accepted the report.
    event.preventDefault();
    event.stopPropagation();
    if (state.value === 'sending') return;
    state.value = 'sending';
    try {
      const comment = field.current?.value.trim();
      await (await room.requests()).report({ reason: reason.value, ...(comment && { comment }) });
      onClose();
      notify(t('reportSent'));
    } catch (error) {
      state.value = { problem: problemOf(toPoproomError(error)) };
    }
  }

  return (
    <Dialog title={t('reportRoom')} onClose={onClose}>
      <form class="report-form" onSubmit={onSubmit}>
        <p>{t('reportHint')}</p>
        <RadioGroup legend={t('reportReason')} chosen={reason} options={reasons} />
        <label class="field">
          <span>{t('reportComment')}</span>
          <textarea ref={field} rows={3} dir="auto" maxLength={maxReportComment} />
        </label>
        <p class="aside">
          {t('reportContact')} <a href={contactLink}>{abuseContact}</a>
        </p>
        <Problem>{typeof state.value === 'object' && state.value.problem}</Problem>
        <div class="actions">
          <Button label={t('cancel')} onClick={onClose} />
          <Button type="submit" class="primary" label={t('reportSend')} aria-disabled={state.value === 'sending'} />
        </div>
      </form>
    </Dialog>
  );
}

const problemOf = (error: PoproomError): string =>
  error.code === 'TOO_MANY_REPORTS' ? t('reportTooMany') : errorMessage(error);
