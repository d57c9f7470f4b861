/** Reports about rooms. */
import type { AdminReport, AdminReportList } from '../../../src/protocol/types.ts';
import { call, formatAge } from './api.ts';
import { type Column, List, RowButton, type SectionProps, useList } from './section.tsx';

export function Reports(props: SectionProps) {
  const list = useList<AdminReportList>('reports?');
  const dismiss = ({ id }: AdminReport) => void list.run(() => call(`reports/${id}`, { method: 'DELETE' }));
  const askToRemove = ({ room, code }: AdminReport) =>
    list.ask({
      title: `Remove room ${code}?`,
      details: 'This deletes its text, its files and all reports about it. It cannot be undone.',
      action: 'Remove room',
      work: () => call(`rooms/${room}`, { method: 'DELETE' }),
    });

  return (
    <>
      <p class="note">
        People can report a room if POPROOM_ABUSE_CONTACT is set. Reports contain nothing of the room, and are removed
        after 30 days.
      </p>
      <List
        {...props}
        list={list}
        rowsOf={({ reports }) => reports}
        caption="Reports"
        columns={columns}
        actions={(report) => (
          <span class="buttons">
            {report.room ? (
              <RowButton text="Remove room" target={report.code} isDanger onClick={() => askToRemove(report)} />
            ) : (
              'The room has ended.'
            )}
            <RowButton text="Dismiss" target={`the report about ${report.code}`} onClick={() => dismiss(report)} />
          </span>
        )}
        keyOf={({ id }) => id}
        empty="There are no reports."
      />
    </>
  );
}

const reasons: Record<AdminReport['reason'], string> = {
  malware: 'Malware or phishing',
  illegal: 'Illegal content',
  harassment: 'Harassment or threats',
  copyright: 'Copyright violation',
  other: 'Something else',
};

const columns: readonly Column<AdminReport>[] = [
  { title: 'Room', show: ({ code }) => <code>{code}</code> },
  { title: 'Reason', show: ({ reason }) => reasons[reason] },
  { title: 'Comment', show: ({ comment }) => <bdi>{comment ?? '–'}</bdi> },
  { title: 'Age', show: ({ createdAt }) => formatAge(createdAt) },
  { title: 'Reported by', show: ({ clientHash }) => <code>{clientHash}</code> },
];
