/** The most active clients, with a way to block them. */
import { useState } from 'preact/hooks';
import type { AdminClient, AdminClientList } from '../../../src/protocol/types.ts';
import { formatBytes, formatCount } from './api.ts';
import { startBlock } from './blocks.tsx';
import { Choice, type Column, List, type SectionProps, useList } from './section.tsx';

const orders = { requests: 'Requests', refused: 'Refused requests', bytes: 'Bytes' } as const;
const spans = { '1': 'This hour', '2': 'Last 2 hours', '24': 'Last 24 hours' } as const;

export function Clients(props: SectionProps) {
  const [order, setOrder] = useState<keyof typeof orders>('requests');
  const [hours, setHours] = useState<keyof typeof spans>('2');
  const list = useList<AdminClientList>(`clients?sort=${order}&hours=${hours}&`);
  return (
    <>
      <p class="note">The server knows the 1,000 most active clients of each hour, for 24 hours. IPv6 counts by /64.</p>
      <div class="choices">
        <Choice<keyof typeof orders> label="Order" value={order} choices={orders} onChange={setOrder} />
        <Choice<keyof typeof spans> label="Time" value={hours} choices={spans} onChange={setHours} />
      </div>
      <List
        {...props}
        list={list}
        rowsOf={({ clients }) => clients}
        caption="Clients"
        columns={columns}
        actions={({ client }) =>
          client.startsWith('key:') ? (
            <a href="#keys">API keys</a>
          ) : (
            <button type="button" aria-label={`Block ${client}`} onClick={() => startBlock(client)}>
              Block…
            </button>
          )
        }
        keyOf={({ client }) => client}
        empty="There were no requests."
      />
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
];
