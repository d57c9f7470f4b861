/** Reports about rooms. */
import { useState } from 'preact/hooks';
import type { AdminReport, AdminReportList } from '../../../src/protocol/types.ts';
import { call, formatAge } from './api.ts';
import {
  type Column,
  Confirmation,
  Pages,
  Problem,
  pageSize,
  type Question,
  type SectionProps,
  Table,
  useAction,
  useData,
  WithData,
} from './section.tsx';

export function Reports({ onSignedOut }: SectionProps) {
  const [offset, setOffset] = useState(0);
  const [question, setQuestion] = useState<Question>();
  const data = useData<AdminReportList>(`reports?limit=${pageSize}&offset=${offset}`);
  const action = useAction(data.reload);

  const dismiss = ({ id }: AdminReport) => void action.run(() => call(`reports/${id}`, { method: 'DELETE' }));
  const askToRemove = ({ room, code }: AdminReport) =>
    setQuestion({
      title: `Remove room ${code}?`,
      details: 'This deletes its text, its files and all reports about it. It cannot be undone.',
      action: 'Remove room',
      run: () => void action.run(() => call(`rooms/${room}`, { method: 'DELETE' })),
    });

  return (
    <>
      <p class="note">
        People can report a room if POPROOM_ABUSE_CONTACT is set. Reports contain nothing of the room, and are removed
        after 30 days.
      </p>
      {action.problem && <Problem message={action.problem.message} />}
      <WithData data={data} onSignedOut={onSignedOut}>
        {({ reports, total }) => (
          <>
            <Table
              caption="Reports"
              columns={columnsFor(dismiss, askToRemove)}
              rows={reports}
              keyOf={({ id }) => id}
              empty="There are no reports."
            />
            <Pages offset={offset} total={total} onChange={setOffset} />
          </>
        )}
      </WithData>
      {question && <Confirmation question={question} onClose={() => setQuestion(undefined)} />}
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

const columnsFor = (
  dismiss: (report: AdminReport) => void,
  askToRemove: (report: AdminReport) => void,
): readonly Column<AdminReport>[] => [
  { title: 'Room', show: ({ code }) => <code>{code}</code> },
  { title: 'Reason', show: ({ reason }) => reasons[reason] },
  { title: 'Comment', show: ({ comment }) => <bdi>{comment ?? '–'}</bdi> },
  { title: 'Age', show: ({ createdAt }) => formatAge(createdAt) },
  { title: 'Reported by', show: ({ clientHash }) => <code>{clientHash}</code> },
  {
    title: 'Actions',
    isActions: true,
    show: (report) => (
      <span class="buttons">
        {report.room ? (
          <button
            type="button"
            class="quiet-danger"
            aria-label={`Remove room ${report.code}`}
            onClick={() => askToRemove(report)}
          >
            Remove room
          </button>
        ) : (
          'The room has ended.'
        )}
        <button type="button" aria-label={`Dismiss the report about ${report.code}`} onClick={() => dismiss(report)}>
          Dismiss
        </button>
      </span>
    ),
  },
];
