/** Rooms by size or age, without their content. Codes are masked until the operator reveals one. */
import { useState } from 'preact/hooks';
import type { AdminRoom, AdminRoomList, AdminRoomRevealed } from '../../../src/protocol/types.ts';
import { call, formatAge, formatBytes, formatCount, formatRest } from './api.ts';
import { Choice, type Column, List, RowButton, type SectionProps, useList } from './section.tsx';

const orders = { size: 'Largest first', age: 'Oldest first' } as const;

export function Rooms(props: SectionProps) {
  const [order, setOrder] = useState<keyof typeof orders>('size');
  const [codes, setCodes] = useState<Readonly<Record<string, string>>>({});
  const list = useList<AdminRoomList>(`rooms?sort=${order}&`);

  const reveal = ({ id }: AdminRoom) =>
    list.run(async () => {
      const { roomId } = await call<AdminRoomRevealed>(`rooms/${id}/reveal`, { method: 'POST' });
      setCodes((known) => ({ ...known, [id]: roomId }));
    });
  const askToRemove = ({ id, code }: AdminRoom) =>
    list.ask({
      title: `Remove room ${codes[id] ?? code}?`,
      details: 'This deletes its text and its files for everyone. It cannot be undone.',
      action: 'Remove room',
      work: () => call(`rooms/${id}`, { method: 'DELETE' }),
    });

  return (
    <>
      <p class="note">Texts, names and PINs are never shown. The server logs each code that you reveal.</p>
      <div class="choices">
        <Choice<keyof typeof orders> label="Order" value={order} choices={orders} onChange={setOrder} />
      </div>
      <List
        {...props}
        list={list}
        rowsOf={({ rooms }) => rooms}
        caption="Rooms"
        columns={[{ title: 'Room', show: ({ id, code }) => <code>{codes[id] ?? code}</code> }, ...columns]}
        actions={(room) => (
          <span class="buttons">
            {codes[room.id] === undefined && (
              <RowButton text="Reveal" target={room.code} onClick={() => reveal(room)} />
            )}
            <RowButton text="Remove" target={room.code} isDanger onClick={() => askToRemove(room)} />
          </span>
        )}
        keyOf={({ id }) => id}
        empty="There are no rooms."
      />
    </>
  );
}

const creatorOf = ({ createdBy, clientHash }: AdminRoom) =>
  createdBy ? (
    <span dir="auto">{createdBy.type === 'key' ? `Key ${createdBy.name}` : createdBy.name}</span>
  ) : (
    <code>{clientHash ?? '–'}</code>
  );

const columns: readonly Column<AdminRoom>[] = [
  { title: 'Size', isNumber: true, show: ({ fileBytes, textBytes }) => formatBytes(fileBytes + textBytes) },
  { title: 'Files', isNumber: true, show: ({ fileCount }) => formatCount(fileCount) },
  { title: 'Devices', isNumber: true, show: ({ deviceCount }) => formatCount(deviceCount) },
  { title: 'Age', show: ({ createdAt }) => formatAge(createdAt) },
  { title: 'Expires in', show: ({ expiresAt }) => formatRest(expiresAt) },
  { title: 'Access', show: ({ hasPin, encrypted }) => (encrypted ? 'Encrypted' : hasPin ? 'PIN' : 'Code') },
  { title: 'Created by', show: creatorOf },
];
