/** The TypeScript types of all bodies and live messages, written out from their schemas: what an editor shows. */
import { compile } from 'json-schema-to-typescript';
import * as fields from '../src/protocol/fields.ts';
import * as live from '../src/protocol/live.ts';
import * as bodies from '../src/protocol/schemas.ts';

type Schema = Parameters<typeof compile>[0];

const named = {
  TextEdit: fields.textEdit,
  SealedEdit: fields.sealedEdit,
  RoomLimits: bodies.roomLimits,
  CreateRoomRequest: bodies.createRoomRequest,
  RoomCreated: bodies.roomCreated,
  RoomInfo: bodies.roomInfo,
  UpdateRoomRequest: bodies.updateRoomRequest,
  Confirmation: bodies.confirmation,
  WriteContentRequest: bodies.writeContentRequest,
  ContentWritten: bodies.contentWritten,
  ContentRead: bodies.contentRead,
  CompactContentRequest: bodies.compactContentRequest,
  EditContentRequest: bodies.editContentRequest,
  ContentEdited: bodies.contentEdited,
  HistoryEntry: bodies.historyEntry,
  HistoryList: bodies.historyList,
  HistoryText: bodies.historyText,
  FileUploaded: bodies.fileUploaded,
  FileClaimed: bodies.fileClaimed,
  TicketIssued: bodies.ticketIssued,
  FileEntry: bodies.fileEntry,
  FileList: bodies.fileList,
  RoomDetails: bodies.roomDetails,
  ServerLimits: bodies.serverLimits,
  HealthReport: bodies.healthReport,
  Readiness: bodies.readiness,
  AdminPoint: bodies.adminPoint,
  AdminNumbers: bodies.adminNumbers,
  AdminRoom: bodies.adminRoom,
  AdminRoomList: bodies.adminRoomList,
  AdminRoomRevealed: bodies.adminRoomRevealed,
  AdminClient: bodies.adminClient,
  AdminClientList: bodies.adminClientList,
  AdminBlock: bodies.adminBlock,
  AdminBlockList: bodies.adminBlockList,
  CreateBlockRequest: bodies.createBlockRequest,
  AdminKey: bodies.adminKey,
  AdminKeyList: bodies.adminKeyList,
  ErrorBody: bodies.errorBody,
  Join: live.join,
  WriteText: live.writeText,
  EditText: live.editText,
  EditSealed: live.editSealed,
  CompactText: live.compactText,
  ClientHeartbeat: live.clientHeartbeat,
  RoomDevice: live.device,
  RoomText: live.text,
  Snapshot: live.snapshot,
  TextChanged: live.textChanged,
  TextEdited: live.textEdited,
  SealedEdited: live.sealedEdited,
  FileAdded: live.fileAdded,
  FileRemoved: live.fileRemoved,
  DevicesChanged: live.devicesChanged,
  DeviceChanges: live.deviceChanges,
  PinAttempts: live.pinAttempts,
  RoomChanged: live.roomChanged,
  Written: live.written,
  Conflict: live.conflict,
  Problem: live.problem,
  Heartbeat: live.heartbeat,
  Closed: live.closed,
};

const names = new Map<unknown, string>(Object.entries(named).map(([name, schema]) => [schema, name]));

export async function protocolTypes(): Promise<string> {
  const types = await Promise.all(Object.entries(named).map(([name, schema]) => interfaceOf(name, schema)));
  const unions = [unionOf('ClientMessage', live.clientMessages), unionOf('ServerMessage', live.serverMessages)];
  const head =
    '/** The types of all bodies and messages, written by `npm run generate` from the schemas beside this file. */\n';
  return [head, ...types, ...unions].join('\n');
}

async function interfaceOf(name: string, schema: object): Promise<string> {
  const inside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withNames(value)]));
  const style = { singleQuote: true, printWidth: 120 };
  const text = await compile(inside as Schema, name, { bannerComment: '', style, ignoreMinAndMaxItems: true });
  return text.replaceAll(/\/\*\*\n\s*\* (.*)\n\s*\*\//g, '/** $1 */');
}

/** Where a shape that has a name stands within another, the name stands for it. */
function withNames(value: unknown): unknown {
  const name = names.get(value);
  if (name !== undefined) return { tsType: name };
  if (Array.isArray(value)) return value.map(withNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNames(inner)]));
}

function unionOf(name: string, messages: Readonly<Record<string, unknown>>): string {
  const members = Object.values(messages).map((message) => names.get(message));
  const line = `export type ${name} = ${members.join(' | ')};\n`;
  return line.length <= 120 ? line : `export type ${name} =\n  | ${members.join('\n  | ')};\n`;
}
