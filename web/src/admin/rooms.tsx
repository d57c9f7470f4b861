/** Rooms by size or age, without their content. Codes are masked until the operator reveals one. */
import { useState } from 'preact/hooks';
import type { AdminRoom, AdminRoomList, AdminRoomRevealed } from '../../../src/protocol/types.ts';
import { call, formatAge, formatBytes, formatCount, formatRest } from './api.ts';
import {
  Choice,
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

const orders = { size: 'Largest first', age: 'Oldest first' } as const;

export function Rooms({ onSignedOut }: SectionProps) {
  const [order, setOrder] = useState<keyof typeof orders>('size');
  const [offset, setOffset] = useState(0);
  const [codes, setCodes] = useState<Readonly<Record<string, string>>>({});
  const [question, setQuestion] = useState<Question>();
  const data = useData<AdminRoomList>(`rooms?sort=${order}&limit=${pageSize}&offset=${offset}`);
  const action = useAction(data.reload);

  const reveal = ({ id }: AdminRoom) =>
    action.run(async () => {
      const { roomId } = await call<AdminRoomRevealed>(`rooms/${id}/reveal`, { method: 'POST' });
      setCodes((known) => ({ ...known, [id]: roomId }));
    });
  const askToRemove = ({ id, code }: AdminRoom) =>
    setQuestion({
      title: `Remove room ${codes[id] ?? code}?`,
      details: 'This deletes its text and its files for everyone. It cannot be undone.',
      action: 'Remove room',
      run: () => void action.run(() => call(`rooms/${id}`, { method: 'DELETE' })),
    });

  return (
    <>
      <p class="note">Texts, names and PINs are never shown. The server logs each code that you reveal.</p>
      <div class="choices">
        <Choice
          label="Order"
          value={order}
          choices={orders}
          onChange={(value) => {
            setOrder(value);
            setOffset(0);
          }}
        />
      </div>
      {action.problem && <Problem message={action.problem.message} />}
      <WithData data={data} onSignedOut={onSignedOut}>
        {({ rooms, total }) => (
          <>
            <Table
              caption="Rooms"
              columns={columnsFor(codes, reveal, askToRemove)}
              rows={rooms}
              keyOf={({ id }) => id}
              empty="There are no rooms."
            />
            <Pages offset={offset} total={total} onChange={setOffset} />
          </>
        )}
      </WithData>
      {question && <Confirmation question={question} onClose={() => setQuestion(undefined)} />}
    </>
  );
}

const creatorOf = ({ createdBy, clientHash }: AdminRoom) =>
  createdBy ? (
    <span dir="auto">{createdBy.type === 'key' ? `Key ${createdBy.name}` : createdBy.name}</span>
  ) : (
    <code>{clientHash ?? '–'}</code>
  );

const columnsFor = (
  codes: Readonly<Record<string, string>>,
  reveal: (room: AdminRoom) => void,
  askToRemove: (room: AdminRoom) => void,
): readonly Column<AdminRoom>[] => [
  { title: 'Room', show: ({ id, code }) => <code>{codes[id] ?? code}</code> },
  { title: 'Size', isNumber: true, show: ({ fileBytes, textBytes }) => formatBytes(fileBytes + textBytes) },
  { title: 'Files', isNumber: true, show: ({ fileCount }) => formatCount(fileCount) },
  { title: 'Devices', isNumber: true, show: ({ deviceCount }) => formatCount(deviceCount) },
  { title: 'Age', show: ({ createdAt }) => formatAge(createdAt) },
  { title: 'Expires in', show: ({ expiresAt }) => formatRest(expiresAt) },
  { title: 'Access', show: ({ hasPin, encrypted }) => (encrypted ? 'Encrypted' : hasPin ? 'PIN' : 'Code') },
  { title: 'Created by', show: creatorOf },
  {
    title: 'Actions',
    isActions: true,
    show: (room) => (
      <span class="buttons">
        {codes[room.id] === undefined && (
          <button type="button" aria-label={`Reveal ${room.code}`} onClick={() => reveal(room)}>
            Reveal
          </button>
        )}
        <button type="button" class="quiet-danger" aria-label={`Remove ${room.code}`} onClick={() => askToRemove(room)}>
          Remove
        </button>
      </span>
    ),
  },
];
