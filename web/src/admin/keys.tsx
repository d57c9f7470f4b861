/** API keys with their use. The keys themselves are not stored. */
import { useState } from 'preact/hooks';
import type { AdminKey, AdminKeyList } from '../../../src/protocol/types.ts';
import { call, formatAge, formatBytes, formatCount, formatTime } from './api.ts';
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

export function Keys({ onSignedOut }: SectionProps) {
  const [offset, setOffset] = useState(0);
  const [question, setQuestion] = useState<Question>();
  const data = useData<AdminKeyList>(`keys?limit=${pageSize}&offset=${offset}`);
  const action = useAction(data.reload);
  const askToRevoke = ({ id, name }: AdminKey) =>
    setQuestion({
      title: `Revoke ${name}?`,
      details: 'Programs with this key are refused immediately. It cannot be undone.',
      action: 'Revoke key',
      run: () => void action.run(() => call(`keys/${id}`, { method: 'DELETE' })),
    });
  return (
    <>
      <p class="note">
        Create keys with <code>poproom keys create NAME</code>.
      </p>
      {action.problem && <Problem message={action.problem.message} />}
      <WithData data={data} onSignedOut={onSignedOut}>
        {({ keys, total }) => (
          <>
            <Table
              caption="API keys"
              columns={columnsFor(askToRevoke)}
              rows={keys}
              keyOf={({ id }) => id}
              empty="There are no API keys."
            />
            <Pages offset={offset} total={total} onChange={setOffset} />
          </>
        )}
      </WithData>
      {question && <Confirmation question={question} onClose={() => setQuestion(undefined)} />}
    </>
  );
}

const columnsFor = (askToRevoke: (key: AdminKey) => void): readonly Column<AdminKey>[] => [
  { title: 'Name', show: ({ name }) => <bdi>{name}</bdi> },
  { title: 'ID', show: ({ id }) => <code>{id}</code> },
  { title: 'Tier', show: ({ tier }) => tier },
  { title: 'Created', show: ({ createdAt }) => formatTime(createdAt) },
  { title: 'Requests', isNumber: true, show: ({ requests }) => formatCount(requests) },
  { title: 'Refused', isNumber: true, show: ({ refused }) => formatCount(refused) },
  { title: 'Bytes', isNumber: true, show: ({ received, sent }) => formatBytes(received + sent) },
  { title: 'Last used', show: ({ lastUsedAt }) => (lastUsedAt ? `${formatAge(lastUsedAt)} ago` : 'Never') },
  {
    title: 'Actions',
    isActions: true,
    show: (key) =>
      key.revokedAt ? (
        <span class="note">Revoked</span>
      ) : (
        <button type="button" class="quiet-danger" aria-label={`Revoke ${key.name}`} onClick={() => askToRevoke(key)}>
          Revoke
        </button>
      ),
  },
];
