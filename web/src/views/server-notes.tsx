/** Notes of the operator on every view: that the server is a demonstration, and where to report abuse. */
import { useSignal } from '@preact/signals';
import type { PoproomError } from '../../../src/client/error.ts';
import type { RoomBase } from '../../../src/client/room.ts';
import { maxReportComment, type ReportReason } from '../../../src/protocol/limits.ts';
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

interface Reportable {
  requests(): Promise<Pick<RoomBase, 'report'>>;
}

/** In a room that can be reported, opens the form. Otherwise leads to the contact. */
export function AbuseContact({ room }: { room?: Reportable }) {
  const isOpen = useSignal(false);
  return (
    <>
      <p class="abuse-contact">
        {room && limits.reports ? (
          <button
            type="button"
            class="link-button"
            onClick={() => {
              isOpen.value = true;
            }}
          >
            {t('reportRoom')}
          </button>
        ) : (
          <a href={contactLink}>{t('reportAbuse')}</a>
        )}
      </p>
      {room && isOpen.value && (
        <ReportDialog
          room={room}
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}

const { abuseContact = '' } = limits;
const contactLink = abuseContact.startsWith('https:') ? abuseContact : `mailto:${abuseContact}`;

type ReportState = 'ready' | 'sending' | { problem: string };

function ReportDialog({ room, onClose }: { room: Reportable; onClose: () => void }) {
  const reason = useSignal<ReportReason>('malware');
  const comment = useSignal('');
  const state = useSignal<ReportState>('ready');
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
      const requests = await room.requests();
      await requests.report({ reason: reason.value, ...(comment.value.trim() && { comment: comment.value.trim() }) });
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
        <RadioGroup
          legend={t('reportReason')}
          value={reason.value}
          options={reasons}
          onChoose={(chosen) => {
            reason.value = chosen;
          }}
        />
        <label class="field">
          <span>{t('reportComment')}</span>
          <textarea
            rows={3}
            dir="auto"
            maxLength={maxReportComment}
            onInput={({ currentTarget }) => {
              comment.value = currentTarget.value;
            }}
          />
        </label>
        <p class="aside">
          {t('reportContact')} <a href={contactLink}>{abuseContact}</a>
        </p>
        <p class="problem" role="alert">
          {typeof state.value === 'object' && state.value.problem}
        </p>
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" class="button primary" aria-disabled={state.value === 'sending'}>
            {t('reportSend')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const problemOf = (error: PoproomError): string =>
  error.code === 'TOO_MANY_REPORTS' ? t('reportTooMany') : errorMessage(error);
