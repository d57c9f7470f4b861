/** The most active clients, with a way to block them. */
import { useState } from 'preact/hooks';
import type { AdminClient, AdminClientList } from '../../../src/protocol/types.ts';
import { formatBytes, formatCount } from './api.ts';
import { startBlock } from './blocks.tsx';
import { Choice, type Column, Pages, pageSize, type SectionProps, Table, useData, WithData } from './section.tsx';

const orders = { requests: 'Requests', refused: 'Refused requests', bytes: 'Bytes' } as const;
const spans = { '1': 'This hour', '2': 'Last 2 hours', '24': 'Last 24 hours' } as const;
type Order = keyof typeof orders;
type Span = keyof typeof spans;

export function Clients({ onSignedOut }: SectionProps) {
  const [order, setOrder] = useState<Order>('requests');
  const [hours, setHours] = useState<Span>('2');
  const [offset, setOffset] = useState(0);
  const data = useData<AdminClientList>(`clients?sort=${order}&hours=${hours}&limit=${pageSize}&offset=${offset}`);
  const fromStart =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      setOffset(0);
    };
  return (
    <>
      <p class="note">The server knows the 1,000 most active clients of each hour, for 24 hours. IPv6 counts by /64.</p>
      <div class="choices">
        <Choice<Order> label="Order" value={order} choices={orders} onChange={fromStart<Order>(setOrder)} />
        <Choice<Span> label="Time" value={hours} choices={spans} onChange={fromStart<Span>(setHours)} />
      </div>
      <WithData data={data} onSignedOut={onSignedOut}>
        {({ clients, total }) => (
          <>
            <Table
              caption="Clients"
              columns={columns}
              rows={clients}
              keyOf={({ client }) => client}
              empty="There were no requests."
            />
            <Pages offset={offset} total={total} onChange={setOffset} />
          </>
        )}
      </WithData>
    </>
  );
}

const columns: readonly Column<AdminClient>[] = [
  { title: 'Client', show: ({ client }) => <code>{client}</code> },
  { title: 'Requests', isNumber: true, show: ({ requests }) => formatCount(requests) },
  { title: 'Refused', isNumber: true, show: ({ refused }) => formatCount(refused) },
  { title: 'Received', isNumber: true, show: ({ received }) => formatBytes(received) },
  { title: 'Sent', isNumber: true, show: ({ sent }) => formatBytes(sent) },
  { title: 'Hash in the log', show: ({ clientHash }) => <code>{clientHash}</code> },
  {
    title: 'Actions',
    isActions: true,
    show: ({ client }) =>
      client.startsWith('key:') ? (
        <a href="#keys">API keys</a>
      ) : (
        <button type="button" aria-label={`Block ${client}`} onClick={() => startBlock(client)}>
          Block…
        </button>
      ),
  },
];
