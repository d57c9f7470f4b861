/**
 * A program that uses all of the SDK. It is compiled and run as one of somebody else, who has installed the package:
 * there, it imports `poproom/client`.
 */
import {
  type CallOptions,
  type Caret,
  type Client,
  type ClientOptions,
  type Confirmation,
  type ConflictDetails,
  type ContentEdited,
  type CreatedRoom,
  type CreateLinkRequest,
  type CreateRoomRequest,
  createClient,
  createSharedText,
  type DownloadOptions,
  type EditOptions,
  EncryptionError,
  type EncryptionErrorCode,
  type Ended,
  type ErrorDetails,
  type FileClaimed,
  type FileEntry,
  type FileToUpload,
  type FileUploaded,
  type HealthReport,
  type HistoryEntry,
  type HistoryText,
  isEncryptedCode,
  type Link,
  type LinkId,
  type LiveEnd,
  type LiveEvent,
  type LiveOptions,
  type LiveRoom,
  type LiveText,
  type LiveTextOptions,
  type LiveWriteOptions,
  type NewRoom,
  type NewWebhook,
  type OnProgress,
  PoproomError,
  type PoproomErrorCode,
  parseLinkId,
  parseRoomCode,
  type RateLimit,
  type ReceiveOptions,
  type RetryEvent,
  type RetryOptions,
  type Room,
  type RoomChanged,
  type RoomCode,
  type RoomDetails,
  type RoomDevice,
  type RoomInfo,
  type RoomKeyAccess,
  type RoomText,
  type SavedText,
  type SeenVersion,
  type SharedText,
  type SharedTextOptions,
  type Snapshot,
  type TextChange,
  type TextEdit,
  type TextEvents,
  type TextState,
  type UpdateRoomRequest,
  type UploadAllOptions,
  type UploadOptions,
  type UploadSource,
  type UploadTicket,
  type WebhookCreated,
  type WebhookEntry,
  type WriteAnswer,
  type WriteOptions,
  type ZipOptions,
} from '../../src/client/index.ts';

/** Returns a line for each result. */
export async function useEverything(url: string): Promise<string[]> {
  const retry: RetryOptions = { attempts: 2, maxSeconds: 5 };
  const retried: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void retried.push(event);
  const options: ClientOptions = {
    url,
    deviceId: 'consumer',
    deviceName: 'A program',
    retry,
    onRetry,
    timeoutSeconds: 60,
  };
  const client: Client = createClient(options);
  const call: CallOptions = { signal: AbortSignal.timeout(60_000) };
  const { status }: HealthReport = await client.health(call);
  const limit: RateLimit | undefined = client.rateLimit;
  const request: CreateRoomRequest = { pin: '0427', expiresIn: 600 };
  const made: CreatedRoom = await client.createRoom(request, call);
  const code: RoomCode | undefined = parseRoomCode(made.code.toLowerCase());
  const room: Room = client.room(made.code, { pin: '0427' });
  const { hasPin }: RoomInfo = await room.info(call);
  const { files: listed }: RoomDetails = await room.details(call);
  return [
    status,
    `limit ${limit !== undefined && limit.remaining < limit.limit && limit.resetAt > new Date()}`,
    `code ${code === room.code && room.link === `${client.url}/r/${room.code}`}`,
    `pin ${hasPin && made.hasPin && listed?.length === 0 && Date.parse(made.expiresAt) > Date.now()}`,
    await useText(room),
    await useFiles(room, call),
    await useArchive(room, call),
    await useOneTimeFile(room, call),
    await useChanges(room, call),
    await useLive(room),
    await useSharedText(room, call),
    await useEncryption(client, call),
    await useLinks(client, made, call),
    await useWebhooks(room, call),
    await useUp(made, call),
    `retried ${retried.length}`,
  ];
}

async function useText(room: Room): Promise<string> {
  const first: RoomText = await room.write('one');
  const stale: WriteOptions = { baseVersion: first.version - 1 };
  const refused: PoproomErrorCode | 'written' = await room.write('two', stale).then(() => 'written', codeOf);
  const conflict: ConflictDetails | undefined = await room.write('two', stale).then(() => undefined, conflictOf);
  return `text ${(await room.read()).content} ${refused} ${conflict?.content}`;
}

/** The compiler knows the details by the code. */
function conflictOf(error: unknown): ErrorDetails['VERSION_CONFLICT'] {
  if (!(error instanceof PoproomError)) throw error;
  if (error.code !== 'VERSION_CONFLICT') throw error;
  const version: number = error.details.version;
  const status: number | undefined = error.status;
  if (version === 0 || status !== 412) throw error;
  return error.details;
}

async function useFiles(room: Room, call: CallOptions): Promise<string> {
  let sent = 0;
  const onProgress: OnProgress = (bytes, total) => {
    sent = total ?? bytes;
  };
  const options: UploadOptions = { ...call, name: 'note.txt', type: 'text/plain', onProgress };
  const bytes = new TextEncoder().encode('bytes');
  const sources: UploadSource[] = [new Blob(['blob!']), bytes, bytes.buffer, new Blob(['strea']).stream()];
  const uploaded: FileUploaded[] = [];
  const together: UploadAllOptions = { ...call, onUploaded: (file) => void uploaded.push(file) };
  const [first, second, ...others] = sources.map((source): FileToUpload => ({ ...options, source }));
  await room.uploadAll(
    [first, second].filter((file) => file !== undefined),
    together,
  );
  const { ticket }: UploadTicket = await room.uploadTicket(others.length, call);
  for (const { source } of others) uploaded.push(await room.upload(source, { ...options, ticket }));
  const files: FileEntry[] = await room.files(call);
  const texts = await Promise.all(files.map(async (file) => (await room.download(file, call)).text()));
  const [gone] = files;
  const removed: Confirmation | undefined = gone && (await room.removeFile(gone.fileId, call));
  return `files ${uploaded.length} ${texts.sort().join(' ')} ${sent} ${removed?.success}`;
}

async function useArchive(room: Room, call: CallOptions): Promise<string> {
  const options: ZipOptions = call;
  const archive = await room.downloadZip(options);
  const size = (await archive.arrayBuffer()).byteLength;
  return `zip ${size > 0} ${new URL(await room.zipUrl(options)).searchParams.has('ticket')}`;
}

async function useChanges(room: Room, call: CallOptions): Promise<string> {
  const change: UpdateRoomRequest = { name: 'Kitchen table' };
  const { name }: RoomInfo = await room.update(change, call);
  return `named ${name}`;
}

async function useOneTimeFile(room: Room, call: CallOptions): Promise<string> {
  const { once }: FileUploaded = await room.upload(new Blob(['secret']), { name: 'secret.txt', once: true });
  const file = (await room.files(call)).find((each) => each.once);
  if (!file) return 'no one-time file';
  const { claim }: FileClaimed = await room.claim(file.fileId, call);
  const released: Confirmation = await room.releaseClaim(claim, call);
  const options: ReceiveOptions<string> = { ...call, save: (response) => response.text() };
  return `once ${once} ${released.success} ${await room.receive(file, options)}`;
}

async function useLive(room: Room): Promise<string> {
  const leave = new AbortController();
  const options: LiveOptions = { signal: leave.signal };
  const live: LiveRoom = room.live(options);
  const seen: string[] = [];
  const events = live[Symbol.asyncIterator]();
  let next = await events.next();
  while (!next.done) {
    const event: LiveEvent = next.value;
    seen.push(event.type);
    if (event.type === 'snapshot') seen.push(await greet(live, event));
    if (event.type === 'room') seen.push(nameIn(event));
    if (event.type === 'snapshot') await room.write('four');
    if (event.type === 'content' && event.content === 'four') leave.abort();
    next = await events.next();
  }
  const ended: Ended = next.value;
  const { reason }: LiveEnd = await live.ended;
  live.wake();
  live.interrupt();
  live.rename('Gone');
  return `live ${seen.filter((what) => what !== 'devices').join(' ')} ${ended} ${reason}`;
}

const nameIn = ({ name }: RoomChanged) => name ?? 'no name';

async function useSharedText(room: Room, call: CallOptions): Promise<string> {
  const longText = 'a text that is long enough for the history';
  await room.write(longText);
  const options: LiveTextOptions = call;
  const text: LiveText = room.text(options);
  const origins: TextChange['origin'][] = [];
  const onChange: TextEvents['change'] = ({ origin }) => origins.push(origin);
  const stop = text.on('change', onChange);
  await text.synchronized();
  text.replace('seven');
  const edit: TextEdit = { from: 5, to: 5, insert: '!' };
  text.edit([edit]);
  await text.synchronized();
  text.undo();
  await text.synchronized();
  const [state, saved]: [TextState, SavedText | undefined] = [text.state, text.save()];
  stop();
  text.close();
  const ended: Ended = await text.ended;
  const offline: SharedTextOptions = { deviceId: 'other' };
  const unbound: SharedText = createSharedText(offline);
  const appending: EditOptions = call;
  const { version }: ContentEdited = await room.append(' eight', appending);
  const entries: HistoryEntry[] = await room.history(call);
  const texts: HistoryText[] = await Promise.all(entries.map(({ version }) => room.historyText(version, call)));
  const facts = [state, saved === undefined, ended, unbound.state, version === text.version + 1];
  return `shared ${(await room.read()).content}, ${origins.join(' ')}, ${facts.join(' ')}, ${texts.some(({ content }) => content === longText)}`;
}

async function useEncryption(client: Client, call: CallOptions): Promise<string> {
  const request: NewRoom = { encrypted: true, name: 'Secret plans' };
  const made: CreatedRoom = await client.createRoom(request, call);
  await made.write('sealed');
  const seen: SeenVersion | undefined = made.seen;
  const access: RoomKeyAccess = { key: made.key, seen, salt: made.salt };
  const code = parseRoomCode(made.code);
  if (!code || !isEncryptedCode(code)) throw new Error(made.code);
  const room: Room = client.room(made.code, access);
  await room.upload(new Blob(['sealed bytes']), { ...call, name: 'a.txt' });
  const [file] = await room.files(call);
  const range: DownloadOptions = { ...call, range: { from: 0, to: 6 } };
  const part = file && (await (await room.download(file, range)).text());
  const refused: EncryptionErrorCode | 'made' = await room.zipUrl(call).then(
    () => 'made',
    (error: unknown) => (error instanceof EncryptionError ? error.code : 'made'),
  );
  const [{ content }, { name }] = [await client.room(made.link).read(call), await room.info(call)];
  return `encrypted ${content} ${part} ${name} ${refused}`;
}

async function useLinks(client: Client, room: Room, call: CallOptions): Promise<string> {
  const request: CreateLinkRequest = { role: 'read', name: 'Guests' };
  const { linkId, link = '' }: Link = await room.createLink(request, call);
  const id: LinkId | undefined = parseLinkId(linkId.toLowerCase());
  const { role }: RoomInfo = await client.room(link).info(call);
  const [listed]: Link[] = await room.links(call);
  const revoked: Confirmation = await room.revokeLink(linkId, call);
  return `link ${id === linkId} ${role} ${listed?.name} ${revoked.success}`;
}

/** The test allows the host, which does not exist. */
async function useWebhooks(room: Room, call: CallOptions): Promise<string> {
  const webhook: NewWebhook = { url: 'https://hooks.invalid/', events: ['text'] };
  const { id, secret }: WebhookCreated = await room.createWebhook(webhook, call);
  const [listed]: WebhookEntry[] = await room.webhooks(call);
  const deleted: Confirmation = await room.deleteWebhook(id, call);
  return `webhook ${secret.startsWith('whsec_')} ${listed?.host} ${deleted.success}`;
}

async function greet(live: LiveRoom, snapshot: Snapshot): Promise<string> {
  const answer: WriteAnswer = await live.write('three', snapshot.content.version);
  const options: LiveWriteOptions = { baseVersion: answer.version };
  await live.write('three and a half', options);
  const caret: Caret = { version: answer.version, position: 0 };
  live.sendCaret(caret);
  const own: RoomDevice | undefined = snapshot.devices.find(({ deviceName }) => deviceName === 'A program');
  return `${answer.type} by ${own?.deviceName}`;
}

async function useUp(room: CreatedRoom, call: CallOptions): Promise<string> {
  const { success }: Confirmation = await room.delete(call);
  return `deleted ${success} ${await room.read().then(() => 'still there', codeOf)}`;
}

function codeOf(error: unknown): PoproomErrorCode {
  if (!(error instanceof PoproomError)) throw error;
  return error.code;
}
