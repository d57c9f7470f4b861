/** The calls of the SDK that read each kind of response. The code does not compile if one has none. */
import type { Client, Room } from '../../src/client/index.ts';
import type * as checks from '../../src/client/response-checks.ts';

type Call = (room: Room, client: Client) => Promise<unknown>;
type Checked = keyof { [K in keyof typeof checks as K extends `is${infer Name}` ? Name : never]: never };

export const responseCalls: Readonly<Record<Checked, readonly Call[]>> = {
  Confirmation: [
    (room) => room.delete(),
    (room) => room.clearHistory(),
    (room) => room.removeFile('0'),
    (room) => room.restoreFile('0'),
    (room) => room.confirmClaim('0'),
    (room) => room.releaseClaim('0'),
    (room) => room.revokeLink('0'),
    (room) => room.deleteWebhook('0'),
    (room) => room.report({ reason: 'other' }),
  ],
  ContentEdited: [(room) => room.append('x'), (room) => room.edit([{ from: 0, to: 0, insert: 'x' }])],
  ContentRead: [(room) => room.read(), (room) => room.write('x')],
  FileClaimed: [(room) => room.claim('0')],
  FileList: [(room) => room.files()],
  FileUploaded: [(room) => room.upload(new Blob(['x']), { name: 'x' })],
  HealthReport: [(_, client) => client.health()],
  HistoryList: [(room) => room.history()],
  HistoryText: [(room) => room.historyText(1), (room) => room.restore(1)],
  Link: [(room) => room.createLink({ role: 'read' })],
  LinkList: [(room) => room.links()],
  RoomCreated: [(_, client) => client.createRoom()],
  RoomDetails: [(room) => room.details()],
  RoomInfo: [(room) => room.info(), (room) => room.update({ name: 'x' })],
  TicketIssued: [(room) => room.zipUrl()],
  WebhookCreated: [(room) => room.createWebhook({ url: 'https://hooks.example.org/' })],
  WebhookList: [(room) => room.webhooks()],
};
