/** Notes of the operator on every view: that the server is a demonstration, and where to report abuse. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { RoomBase } from '../../../src/client/room.ts';
import { maxReportComment, type ReportReason } from '../../../src/protocol/limits.ts';
import { Button, Icon, Problem } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import { RadioGroup } from '../components/form-fields.tsx';
import { notify } from '../components/notices.tsx';
import { t } from '../i18n/all-strings.ts';
import { errorMessage, exactTime, size } from '../i18n/strings.ts';
import { limits } from '../page-settings.ts';
import { load, useSubmission } from './requests.ts';
import '../style/server-notes.css';

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
  const reasons: (readonly [ReportReason, string])[] = [
    ['malware', t('reportMalware')],
    ['illegal', t('reportIllegal')],
    ['harassment', t('reportHarassment')],
    ['copyright', t('reportCopyright')],
    ['other', t('reportOther')],
  ];

  const { isSending, problem, onSubmit } = useSubmission(async () => {
    const comment = field.current?.value.trim();
    const report = { reason: reason.value, ...(comment && { comment }) };
    const { error } = await load(async () => (await room.requests()).report(report));
    if (error) return error.code === 'TOO_MANY_REPORTS' ? t('reportTooMany') : errorMessage(error);
    onClose();
    notify(t('reportSent'));
    return undefined;
  });

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
        <Problem>{problem.value}</Problem>
        <div class="actions">
          <Button label={t('cancel')} onClick={onClose} />
          <Button type="submit" class="primary" label={t('reportSend')} aria-disabled={isSending.value} />
        </div>
      </form>
    </Dialog>
  );
}
