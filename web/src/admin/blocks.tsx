/** Blocked ranges of addresses, and a form for new ones. */
import { useState } from 'preact/hooks';
import type { AdminBlock, AdminBlockList } from '../../../src/protocol/types.ts';
import { call, formatRest, formatTime } from './api.ts';
import { type Column, Problem, RowButton, type SectionProps, Table, useAction, useData, WithData } from './section.tsx';

/** The range that the form starts with, from the list of clients. */
let suggestedRange = '';

export function startBlock(range: string): void {
  suggestedRange = range;
  location.hash = 'blocks';
}

export function Blocks({ onSignedOut }: SectionProps) {
  const data = useData<AdminBlockList>('blocks');
  const action = useAction(data.reload);
  const unblock = ({ id }: AdminBlock) => void action.run(() => call(`blocks/${id}`, { method: 'DELETE' }));
  return (
    <>
      <p class="note">Requests from a blocked address are refused on all nodes within a few seconds.</p>
      <BlockForm onDone={data.reload} />
      {action.problem && <Problem message={action.problem.message} />}
      <WithData data={data} onSignedOut={onSignedOut}>
        {({ blocks }) => (
          <Table
            caption="Blocks"
            columns={columns}
            actions={(block) => <RowButton text="Unblock" target={block.range} onClick={() => unblock(block)} />}
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

function BlockForm({ onDone }: { onDone(): void }) {
  const [isForced, setForced] = useState(false);
  const action = useAction(onDone);
  const canForce = action.problem?.code === 'VALIDATION_FAILED' && action.problem.message.includes('"force"');

  async function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = new FormData(form);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    const end = text('end') === '' ? {} : { expiresIn: Number(text('end')) };
    const json = { range: text('range'), reason: text('reason'), ...end, ...(isForced && { force: true }) };
    if (!(await action.run(() => call('blocks', { method: 'POST', json })))) return;
    suggestedRange = '';
    setForced(false);
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
      <label class="field">
        <span>Ends after</span>
        <select name="end" defaultValue="86400">
          {Object.entries(ends).map(([seconds, title]) => (
            <option key={seconds} value={seconds} selected={seconds === '86400'}>
              {title}
            </option>
          ))}
        </select>
      </label>
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

const columns: readonly Column<AdminBlock>[] = [
  { title: 'Range', show: ({ range }) => <code>{range}</code> },
  { title: 'Reason', show: ({ reason }) => <bdi>{reason}</bdi> },
  { title: 'Since', show: ({ createdAt }) => formatTime(createdAt) },
  { title: 'Ends in', show: ({ endsAt }) => (endsAt ? formatRest(endsAt) : 'No end') },
];
