/** API keys with their use. The keys themselves are not stored. */
import type { AdminKey, AdminKeyList } from '../../../src/protocol/types.ts';
import { call, formatAge, formatBytes, formatCount, formatTime } from './api.ts';
import { type Column, List, RowButton, type SectionProps, useList } from './section.tsx';

export function Keys(props: SectionProps) {
  const list = useList<AdminKeyList>('keys?');
  const askToRevoke = ({ id, name }: AdminKey) =>
    list.ask({
      title: `Revoke ${name}?`,
      details: 'Programs with this key are refused immediately. It cannot be undone.',
      action: 'Revoke key',
      work: () => call(`keys/${id}`, { method: 'DELETE' }),
    });
  return (
    <>
      <p class="note">
        Create keys with <code>poproom keys create NAME</code>.
      </p>
      <List
        {...props}
        list={list}
        rowsOf={({ keys }) => keys}
        caption="API keys"
        columns={columns}
        actions={(key) =>
          key.revokedAt ? (
            <span class="note">Revoked</span>
          ) : (
            <RowButton text="Revoke" target={key.name} isDanger onClick={() => askToRevoke(key)} />
          )
        }
        keyOf={({ id }) => id}
        empty="There are no API keys."
      />
    </>
  );
}

const columns: readonly Column<AdminKey>[] = [
  { title: 'Name', show: ({ name }) => <bdi>{name}</bdi> },
  { title: 'ID', show: ({ id }) => <code>{id}</code> },
  { title: 'Tier', show: ({ tier }) => tier },
  { title: 'Created', show: ({ createdAt }) => formatTime(createdAt) },
  { title: 'Requests', isNumber: true, show: ({ requests }) => formatCount(requests) },
  { title: 'Refused', isNumber: true, show: ({ refused }) => formatCount(refused) },
  { title: 'Bytes', isNumber: true, show: ({ received, sent }) => formatBytes(received + sent) },
  { title: 'Last used', show: ({ lastUsedAt }) => (lastUsedAt ? `${formatAge(lastUsedAt)} ago` : 'Never') },
];
