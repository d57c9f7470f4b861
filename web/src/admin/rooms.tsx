/** Rooms without their content, and reports about rooms. Codes are masked until the operator reveals one. */
import { useState } from 'preact/hooks';
import type { AdminReportList, AdminRoom, AdminRoomList, AdminRoomRevealed } from '../../../src/protocol/types.ts';
import { call, formatAge, formatBytes, formatCount, formatRest } from './api.ts';
import { Button, Choice, List, type Question } from './section.tsx';

const orders = { size: 'Largest first', age: 'Oldest first' } as const;

export function Rooms() {
  const [order, setOrder] = useState<keyof typeof orders>('size');
  const [codes, setCodes] = useState<Readonly<Record<string, string>>>({});
  const codeOf = ({ id, code }: AdminRoom) => codes[id] ?? code;
  const removal = (room: AdminRoom) => removalOf(room.id, codeOf(room), 'its text and its files for everyone');

  async function reveal({ id }: AdminRoom): Promise<void> {
    const { roomId } = await call<AdminRoomRevealed>(`rooms/${id}/reveal`, { method: 'POST' });
    setCodes((known) => ({ ...known, [id]: roomId }));
  }

  return (
    <List
      note="Texts, names and PINs are never shown. The server logs each code that you reveal."
      path={`rooms?sort=${order}&`}
      rowsOf={({ rooms }: AdminRoomList) => rooms}
      caption="Rooms"
      columns={[
        { title: 'Room', show: (room) => <code>{codeOf(room)}</code> },
        { title: 'Size', isNumber: true, show: ({ fileBytes, textBytes }) => formatBytes(fileBytes + textBytes) },
        { title: 'Files', isNumber: true, show: ({ fileCount }) => formatCount(fileCount) },
        { title: 'Devices', isNumber: true, show: ({ deviceCount }) => formatCount(deviceCount) },
        { title: 'Age', show: ({ createdAt }) => formatAge(createdAt) },
        { title: 'Expires in', show: ({ expiresAt }) => formatRest(expiresAt) },
        { title: 'Access', show: ({ hasPin, encrypted }) => (encrypted ? 'Encrypted' : hasPin ? 'PIN' : 'Code') },
        { title: 'Created by', show: creatorOf },
      ]}
      actions={(room, { run, ask }) => (
        <span class="buttons">
          {codes[room.id] === undefined && (
            <Button text="Reveal" target={room.code} onClick={() => run(() => reveal(room))} />
          )}
          <Button text="Remove" target={room.code} class="quiet-danger" onClick={() => ask(removal(room))} />
        </span>
      )}
      keyOf={({ id }) => id}
      empty="There are no rooms."
    >
      <Choice label="Order" value={order} choices={orders} onChange={setOrder} />
    </List>
  );
}

export function Reports() {
  const removal = (room: string, code: string) => removalOf(room, code, 'its text, its files and all reports about it');
  const dismiss = (id: string) => call(`reports/${id}`, { method: 'DELETE' });
  return (
    <List
      note={
        <>
          People can report a room if POPROOM_ABUSE_CONTACT is set. Reports contain nothing of the room, and are removed
          after 30 days.
        </>
      }
      path="reports?"
      rowsOf={({ reports }: AdminReportList) => reports}
      caption="Reports"
      columns={[
        { title: 'Room', show: ({ code }) => <code>{code}</code> },
        { title: 'Reason', show: ({ reason }) => reasons[reason] },
        { title: 'Comment', show: ({ comment }) => <bdi>{comment ?? '–'}</bdi> },
        { title: 'Age', show: ({ createdAt }) => formatAge(createdAt) },
        { title: 'Reported by', show: ({ clientHash }) => <code>{clientHash}</code> },
      ]}
      actions={({ id, room, code }, { run, ask }) => (
        <span class="buttons">
          {room ? (
            <Button text="Remove room" target={code} class="quiet-danger" onClick={() => ask(removal(room, code))} />
          ) : (
            'The room has ended.'
          )}
          <Button text="Dismiss" target={`the report about ${code}`} onClick={() => run(() => dismiss(id))} />
        </span>
      )}
      keyOf={({ id }) => id}
      empty="There are no reports."
    />
  );
}

const removalOf = (id: string, code: string, content: string): Question => ({
  title: `Remove room ${code}?`,
  details: `This deletes ${content}. It cannot be undone.`,
  action: 'Remove room',
  work: () => call(`rooms/${id}`, { method: 'DELETE' }),
});

const creatorOf = ({ createdBy, clientHash }: AdminRoom) =>
  createdBy ? (
    <span dir="auto">{createdBy.type === 'key' ? `Key ${createdBy.name}` : createdBy.name}</span>
  ) : (
    <code>{clientHash ?? '–'}</code>
  );

const reasons = {
  malware: 'Malware or phishing',
  illegal: 'Illegal content',
  harassment: 'Harassment or threats',
  copyright: 'Copyright violation',
  other: 'Something else',
};
