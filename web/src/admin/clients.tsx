/** The most active clients, blocked ranges of addresses, and API keys. */
import { useState } from 'preact/hooks';
import type { AdminBlockList, AdminClientList, AdminKeyList } from '../../../src/protocol/types.ts';
import { call, formatAge, formatBytes, formatCount, formatRest, formatTime } from './api.ts';
import { Button, Choice, List, Problem, type Question, Table, useAction, useData, WithData } from './section.tsx';

const orders = { requests: 'Requests', refused: 'Refused requests', bytes: 'Bytes' } as const;
const spans = { '1': 'This hour', '2': 'Last 2 hours', '24': 'Last 24 hours' } as const;

export function Clients() {
  const [order, setOrder] = useState<keyof typeof orders>('requests');
  const [hours, setHours] = useState<keyof typeof spans>('2');
  return (
    <List
      note="The server knows the 1,000 most active clients of each hour, for 24 hours. IPv6 counts by /64."
      path={`clients?sort=${order}&hours=${hours}&`}
      rowsOf={({ clients }: AdminClientList) => clients}
      caption="Clients"
      columns={[
        { title: 'Client', show: ({ client }) => <code>{client}</code> },
        { title: 'Requests', isNumber: true, show: ({ requests }) => formatCount(requests) },
        { title: 'Refused', isNumber: true, show: ({ refused }) => formatCount(refused) },
        { title: 'Received', isNumber: true, show: ({ received }) => formatBytes(received) },
        { title: 'Sent', isNumber: true, show: ({ sent }) => formatBytes(sent) },
        { title: 'Hash in the log', show: ({ clientHash }) => <code>{clientHash}</code> },
      ]}
      actions={({ client }) =>
        client.startsWith('key:') ? (
          <a href="#keys">API keys</a>
        ) : (
          <Button text="Block…" aria-label={`Block ${client}`} onClick={() => startBlock(client)} />
        )
      }
      keyOf={({ client }) => client}
      empty="There were no requests."
    >
      <Choice label="Order" value={order} choices={orders} onChange={setOrder} />
      <Choice label="Time" value={hours} choices={spans} onChange={setHours} />
    </List>
  );
}

/** The range that the form starts with, from the list of clients. */
let suggestedRange = '';

function startBlock(range: string): void {
  suggestedRange = range;
  location.hash = 'blocks';
}

export function Blocks() {
  const data = useData<AdminBlockList>('blocks');
  const action = useAction(data.reload);
  const unblock = ({ id }: { id: string }) => action.run(() => call(`blocks/${id}`, { method: 'DELETE' }));
  return (
    <>
      <p class="note">Requests from a blocked address are refused on all nodes within a few seconds.</p>
      <BlockForm onDone={data.reload} />
      {action.problem && <Problem message={action.problem.message} />}
      <WithData data={data}>
        {({ blocks }) => (
          <Table
            caption="Blocks"
            columns={[
              { title: 'Range', show: ({ range }) => <code>{range}</code> },
              { title: 'Reason', show: ({ reason }) => <bdi>{reason}</bdi> },
              { title: 'Since', show: ({ createdAt }) => formatTime(createdAt) },
              { title: 'Ends in', show: ({ endsAt }) => (endsAt ? formatRest(endsAt) : 'No end') },
            ]}
            actions={(block) => <Button text="Unblock" target={block.range} onClick={() => unblock(block)} />}
            rows={blocks}
            keyOf={({ id }) => id}
            empty="No address is blocked."
          />
        )}
      </WithData>
    </>
  );
}

const ends = { '3600': '1 hour', '86400': '1 day', '604800': '7 days', '2592000': '30 days', '': 'No end' } as const;
const usualEnd = '86400';

function BlockForm({ onDone }: { onDone(): void }) {
  const [isForced, setForced] = useState(false);
  const [end, setEnd] = useState<keyof typeof ends>(usualEnd);
  const [blocks, setBlocks] = useState(0);
  const action = useAction(onDone);
  const canForce = action.problem?.code === 'VALIDATION_FAILED' && action.problem.message.includes('"force"');

  async function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { range = '', reason = '' } = Object.fromEntries(new FormData(form)) as Record<string, string>;
    const rule = { range: range.trim(), reason: reason.trim(), expiresIn: Number(end) || undefined };
    const json = { ...rule, force: isForced || undefined };
    if (!(await action.run(() => call('blocks', { method: 'POST', json })))) return;
    suggestedRange = '';
    setForced(false);
    setEnd(usualEnd);
    setBlocks(blocks + 1);
    form.reset();
  }

  return (
    <form class="card block-form" onSubmit={onSubmit} aria-label="Block addresses">
      <label class="field">
        <span>Address or range</span>
        <input name="range" required placeholder="198.51.100.0/24" maxLength={60} defaultValue={suggestedRange} />
      </label>
      <label class="field">
        <span>Reason, for operators</span>
        <input name="reason" required maxLength={200} />
      </label>
      <Choice key={blocks} label="Ends after" value={end} choices={ends} onChange={setEnd} />
      {(canForce || isForced) && (
        <label class="check">
          <input type="checkbox" checked={isForced} onChange={(event) => setForced(event.currentTarget.checked)} />
          <span>Block it anyway</span>
        </label>
      )}
      <button class="primary" type="submit">
        Block
      </button>
      {action.problem && <Problem message={action.problem.message} />}
    </form>
  );
}

export function Keys() {
  const revocation = ({ id, name }: Record<'id' | 'name', string>): Question => ({
    title: `Revoke ${name}?`,
    details: 'Programs with this key are refused immediately. It cannot be undone.',
    action: 'Revoke key',
    work: () => call(`keys/${id}`, { method: 'DELETE' }),
  });
  return (
    <List
      note={
        <>
          Create keys with <code>poproom keys create NAME</code>.
        </>
      }
      path="keys?"
      rowsOf={({ keys }: AdminKeyList) => keys}
      caption="API keys"
      columns={[
        { title: 'Name', show: ({ name }) => <bdi>{name}</bdi> },
        { title: 'ID', show: ({ id }) => <code>{id}</code> },
        { title: 'Tier', show: ({ tier }) => tier },
        { title: 'Created', show: ({ createdAt }) => formatTime(createdAt) },
        { title: 'Requests', isNumber: true, show: ({ requests }) => formatCount(requests) },
        { title: 'Refused', isNumber: true, show: ({ refused }) => formatCount(refused) },
        { title: 'Bytes', isNumber: true, show: ({ received, sent }) => formatBytes(received + sent) },
        { title: 'Last used', show: ({ lastUsedAt }) => (lastUsedAt ? `${formatAge(lastUsedAt)} ago` : 'Never') },
      ]}
      actions={(key, { ask }) =>
        key.revokedAt ? (
          <span class="note">Revoked</span>
        ) : (
          <Button text="Revoke" target={key.name} class="quiet-danger" onClick={() => ask(revocation(key))} />
        )
      }
      keyOf={({ id }) => id}
      empty="There are no API keys."
    />
  );
}
