/**
 * The requests that docs/api.md shows, for each endpoint as curl, SDK and command line. They use the example values of
 * the OpenAPI document; test/docs/api-guide.test.ts reads them from the page and runs every one of them.
 */
import type { EndpointName } from '../../src/protocol/endpoints.ts';

export interface Snippets {
  curl?: string;
  /** Continues `sdkStart`. */
  sdk?: string;
  /** Continues `cliStart`. */
  cli?: string;
  /** The expected output, if test/docs/api-guide.test.ts has no check of its own. The SDK prints one line of JSON for each call. */
  prints?: { sdk?: RegExp; cli?: RegExp };
  /** Why one of them is missing, or does more than the endpoint. */
  note?: string;
}

/** Only browsers request these. */
type ForBrowsers = 'home' | 'roomPage' | 'sharePage' | 'invitePage' | 'pageAsset' | 'favicon' | 'adminPage';

export const sdkStart = `
import { createClient } from '@poproom/client';

const client = createClient({ url: 'http://localhost:8080' });
const room = client.room('7KQ2MX');
`;

export const cliStart = `
export POPROOM_URL=http://localhost:8080
`;

/** A request to a room with a PIN. */
export const withPin: Snippets = {
  curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/content -H 'X-Room-Pin: 0427'
`,
  sdk: `
const locked = client.room('7KQ2MX', { pin: '0427' });
console.log((await locked.read()).content);
`,
  cli: `
POPROOM_PIN=0427 poproom get 7KQ2MX
`,
};

export const snippets: Record<Exclude<EndpointName, ForBrowsers>, Snippets> = {
  createRoom: {
    curl: `
curl http://localhost:8080/api/rooms \\
  -H 'Content-Type: application/json' \\
  -d '{"pin": "0427", "expiresIn": 3600, "name": "Kitchen table"}'
`,
    sdk: `
const made = await client.createRoom({ pin: '0427', expiresIn: 3600, name: 'Kitchen table' });
console.log(made.code, made.link, made.expiresAt);
`,
    cli: `
POPROOM_PIN=0427 poproom new --pin --expires 1h --name 'Kitchen table'
`,
  },
  createToken: {
    curl: `
curl http://localhost:8080/api/create-token \\
  -H 'Content-Type: application/json' -d '{"password": "correct horse battery"}'
`,
    note:
      'The SDK and the command line need no token: they send the password itself, from the option `createPassword` or ' +
      'from `POPROOM_CREATE_PASSWORD`, and only to create a room.',
  },
  getRoom: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX
`,
    sdk: `
const { expiresAt, hasPin, deviceCount } = await room.info();
console.log(expiresAt, hasPin, deviceCount);
`,
    cli: `
poproom info 7KQ2MX
`,
    note: 'The command also shows the text and the files: it sends `details=true`.',
  },
  updateRoom: {
    curl: `
curl -X PATCH http://localhost:8080/api/rooms/7KQ2MX \\
  -H 'Content-Type: application/json' \\
  -d '{"expiresIn": 7200, "name": "Kitchen table"}'
`,
    sdk: `
const changed = await room.update({ expiresIn: 7200, name: 'Kitchen table' });
console.log(changed.expiresAt, changed.name);
`,
    cli: `
poproom set 7KQ2MX --expires 2h --name 'Kitchen table'
`,
    note: 'To remove the PIN, send `"pin": null`.',
  },
  deleteRoom: {
    curl: `
curl -X DELETE http://localhost:8080/api/rooms/7KQ2MX
`,
    sdk: `
const { message } = await room.delete();
console.log(message);
`,
    cli: `
poproom rm 7KQ2MX --yes
`,
  },
  createLink: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/links \\
  -H 'Content-Type: application/json' \\
  -d '{"role": "drop", "name": "Photos of the party", "expiresIn": 3600}'
`,
    sdk: `
const { linkId, link } = await room.createLink({ role: 'drop', name: 'Photos of the party', expiresIn: 3600 });
console.log(linkId, link);
`,
    cli: `
poproom link 7KQ2MX --drop --name 'Photos of the party' --expires 1h
`,
    prints: { cli: /^http\S+\/r\/[0-9A-Z]{24}$/m },
  },
  listLinks: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/links
`,
    sdk: `
for (const { linkId, role, name } of await room.links()) console.log(linkId, role, name);
`,
    cli: `
poproom links 7KQ2MX
`,
    prints: { cli: /^[0-9A-Z]{24} .*Photos of the party/m },
  },
  revokeLink: {
    curl: `
curl -X DELETE http://localhost:8080/api/rooms/7KQ2MX/links/4VNR8M2KQX7D5HWT9CJZ3BPA
`,
    sdk: `
const { message } = await room.revokeLink('4VNR8M2KQX7D5HWT9CJZ3BPA');
console.log(message);
`,
    cli: `
poproom unlink 7KQ2MX 4VNR8M2KQX7D5HWT9CJZ3BPA
`,
    prints: { cli: /revoked/i },
  },
  reportRoom: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/reports \\
  -H 'Content-Type: application/json' \\
  -d '{"reason": "malware", "comment": "The file setup.exe is a virus."}'
`,
    sdk: `
const { message } = await room.report({ reason: 'malware', comment: 'The file setup.exe is a virus.' });
console.log(message);
`,
    note: 'There is no command for this request.',
  },
  writeContent: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'Content-Type: application/json' \\
  -d '{"content": "Hello"}'

# Only if the text still has version 1:
curl http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'Content-Type: application/json' -H 'If-Match: "1"' \\
  -d '{"content": "Hello again"}'

# As plain text, with all its line breaks:
curl --data-binary @café.txt http://localhost:8080/api/rooms/7KQ2MX/content
`,
    sdk: `
const { version } = await room.write('Hello');
const next = await room.write('Hello again', { baseVersion: version });
console.log(version, next.version);
`,
    cli: `
poproom put 7KQ2MX "Hello"

# Only if the text still has version 1 (see "poproom get --json"):
poproom put 7KQ2MX --base-version 1 "Hello again"
`,
  },
  readContent: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/content

# Only the text:
curl http://localhost:8080/api/rooms/7KQ2MX/content -H 'Accept: text/plain'

# Wait up to 30 seconds for another version than 0:
curl 'http://localhost:8080/api/rooms/7KQ2MX/content?wait=30' -H 'If-None-Match: "0"'
`,
    sdk: `
const { content, version, timestamp } = await room.read();
console.log(content, version, timestamp);
`,
    cli: `
poproom get 7KQ2MX
`,
    note:
      'To follow the text in a script, repeat the request with `wait`, and send the `ETag` of the last response as ' +
      '`If-None-Match`. `304` means that nothing has changed. A live channel does the same without counting each change as a request.',
  },
  editContent: {
    curl: `
# Add to the end:
curl -X PATCH http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'Content-Type: application/json' \\
  -d '{"append": "one more line\\n"}'

# The same without JSON, for example the output of a command:
date | curl -X PATCH http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'Content-Type: text/plain' --data-binary @-

# Replace the first 6 characters of version 1, whatever was written since:
curl -X PATCH http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'Content-Type: application/json' \\
  -d '{"edits": [{"from": 0, "to": 6, "insert": "Hello"}], "baseVersion": 1}'
`,
    sdk: `
await room.append('one more line\\n');
const { version } = await room.edit([{ from: 0, to: 6, insert: 'Hello' }], { baseVersion: 1 });
console.log(version);
`,
    cli: `
poproom put 7KQ2MX --append "one more line"
`,
    note:
      'The command line can only append. A program that stays in the room uses ' +
      '[`room.text()`](sdk.md#edit-together) instead.',
  },
  compactContent: {
    note: 'Only clients of an encrypted room send this: it needs the room key.',
  },
  listHistory: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/history
`,
    sdk: `
for (const { version, timestamp, size } of await room.history()) console.log(version, timestamp, size);
`,
    cli: `
poproom history 7KQ2MX
`,
  },
  readHistory: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/history/7
`,
    sdk: `
const { content } = await room.historyText(7);
const restored = await room.restore(7);
console.log(content, restored.version);
`,
    cli: `
poproom history 7KQ2MX 7

# Make it the current text again:
poproom restore 7KQ2MX 7
`,
    note: 'Restoring makes two requests: this one, and a write of the text.',
  },
  createWebhook: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/webhooks \\
  -H 'Content-Type: application/json' \\
  -d '{"url": "https://hooks.example.org/kitchen", "events": ["text", "file"]}'
`,
    sdk: `
const { id, secret } = await room.createWebhook({ url: 'https://hooks.example.org/kitchen', events: ['text', 'file'] });
console.log(id, secret);
`,
    cli: `
poproom webhook 7KQ2MX https://hooks.example.org/kitchen --events text,file
`,
  },
  listWebhooks: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/webhooks
`,
    sdk: `
const [webhook] = await room.webhooks();
console.log(webhook.host, webhook.lastDelivery, webhook.lastError);
`,
    cli: `
poproom webhook 7KQ2MX
`,
  },
  deleteWebhook: {
    curl: `
curl -X DELETE http://localhost:8080/api/rooms/7KQ2MX/webhooks/1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10
`,
    sdk: `
const { message } = await room.deleteWebhook('1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10');
console.log(message);
`,
    cli: `
poproom webhook 7KQ2MX --delete 1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10
`,
  },
  clearHistory: {
    curl: `
curl -X DELETE http://localhost:8080/api/rooms/7KQ2MX/history
`,
    sdk: `
const { message } = await room.clearHistory();
console.log(message);
`,
    cli: `
poproom history 7KQ2MX --delete --yes
`,
    note: 'To keep no history at all, create the room with `"history": false` or `poproom new --no-history`.',
  },
  uploadFile: {
    curl: `
# As a form:
curl -F file=@photo.jpg http://localhost:8080/api/rooms/7KQ2MX/upload

# As raw bytes:
curl --data-binary @café.txt http://localhost:8080/api/rooms/7KQ2MX/upload \\
  -H 'Content-Type: text/plain' -H 'X-File-Name: caf%C3%A9.txt'
`,
    sdk: `
const { fileUrl, fileName, fileSize } = await room.upload('photo.jpg', { type: 'image/jpeg' });
console.log(fileUrl, fileName, fileSize);
`,
    cli: `
poproom send 7KQ2MX photo.jpg
`,
  },
  putFile: {
    curl: `
curl -T photo.jpg http://localhost:8080/api/rooms/7KQ2MX/upload/photo.jpg
`,
    note: 'If the URL ends with `upload/`, curl adds the name of the file. The SDK and the command line use the endpoint above.',
  },
  createUpload: {
    curl: `
curl -X POST http://localhost:8080/api/rooms/7KQ2MX/uploads \\
  -H 'Tus-Resumable: 1.0.0' -H 'Upload-Length: 5' \\
  -H 'Upload-Metadata: filename aGVsbG8udHh0,filetype dGV4dC9wbGFpbg=='
`,
    note: 'The SDK and the command line send files over 5 MiB this way. Any tus client works too.',
  },
  getUpload: {
    curl: `
curl -I http://localhost:8080/api/rooms/7KQ2MX/uploads/9f86d081884c7d659a2feaa0c55ad015 \\
  -H 'Tus-Resumable: 1.0.0'
`,
    note: 'The SDK and the command line do this themselves.',
  },
  continueUpload: {
    curl: `
curl -X PATCH http://localhost:8080/api/rooms/7KQ2MX/uploads/9f86d081884c7d659a2feaa0c55ad015 \\
  -H 'Tus-Resumable: 1.0.0' -H 'Upload-Offset: 0' \\
  -H 'Content-Type: application/offset+octet-stream' -d Hello
`,
    note: 'The SDK and the command line do this themselves.',
  },
  cancelUpload: {
    curl: `
curl -X DELETE http://localhost:8080/api/rooms/7KQ2MX/uploads/9f86d081884c7d659a2feaa0c55ad015 \\
  -H 'Tus-Resumable: 1.0.0'
`,
    note: 'The SDK and the command line leave an interrupted upload on the server for 24 hours, so that you can continue it.',
  },
  restoreFile: {
    curl: `
curl -X POST http://localhost:8080/api/rooms/7KQ2MX/files/9f86d081884c7d659a2feaa0c55ad015/restore
`,
    sdk: `
const { message } = await room.restoreFile('9f86d081884c7d659a2feaa0c55ad015');
console.log(message);
`,
    cli: `
poproom rm 7KQ2MX --undo 9f86d081884c7d659a2feaa0c55ad015
`,
  },
  claimFile: {
    curl: `
curl -X POST http://localhost:8080/api/rooms/7KQ2MX/files/9f86d081884c7d659a2feaa0c55ad015/claim
`,
    sdk: `
const file = (await room.files()).find(({ once }) => once);
const blob = await room.receive(file);
console.log(await blob.text());
`,
    cli: `
poproom fetch 7KQ2MX secret.txt
`,
    note:
      'With curl, download the file from the `url` of the response, then confirm the receipt. The SDK and the command line ' +
      'do all of this. If the download fails, they give the file back.',
  },
  confirmClaim: {
    curl: `
curl -X POST http://localhost:8080/api/rooms/7KQ2MX/claims/4b2ae1f4d7c09a3361f08c5e92d7b6a0/done
`,
    sdk: `
const { message } = await room.confirmClaim('4b2ae1f4d7c09a3361f08c5e92d7b6a0');
console.log(message);
`,
    note: '`room.receive()` and `poproom fetch` do this themselves.',
  },
  releaseClaim: {
    curl: `
curl -X DELETE http://localhost:8080/api/rooms/7KQ2MX/claims/4b2ae1f4d7c09a3361f08c5e92d7b6a0
`,
    sdk: `
const { message } = await room.releaseClaim('4b2ae1f4d7c09a3361f08c5e92d7b6a0');
console.log(message);
`,
    note: '`room.receive()` and `poproom fetch` do this themselves if the download fails.',
  },
  listFiles: {
    curl: `
curl http://localhost:8080/api/rooms/7KQ2MX/files
`,
    sdk: `
for (const { fileName, fileSize, fileUrl } of await room.files()) console.log(fileName, fileSize, fileUrl);
`,
    cli: `
poproom fetch 7KQ2MX --list
`,
  },
  downloadZip: {
    curl: `
curl -OJ http://localhost:8080/api/rooms/7KQ2MX/files.zip
`,
    sdk: `
import { writeFile } from 'node:fs/promises';

const response = await room.downloadZip();
await writeFile('files.zip', response.body);
`,
    cli: `
poproom fetch 7KQ2MX --zip
`,
  },
  issueTicket: {
    curl: `
# To download the archive:
curl -X POST http://localhost:8080/api/rooms/7KQ2MX/tickets

# To upload 40 files:
curl http://localhost:8080/api/rooms/7KQ2MX/tickets \\
  -H 'Content-Type: application/json' -d '{"uploads": 40}'
`,
    sdk: `
console.log(await room.zipUrl());

const { ticket } = await room.uploadTicket(40);
await room.upload('photo.jpg', { ticket });
`,
    note: '`poproom send` requests a ticket if it sends several files. `poproom fetch` needs none.',
  },
  removeFile: {
    curl: `
curl -X DELETE http://localhost:8080/api/rooms/7KQ2MX/files/9f86d081884c7d659a2feaa0c55ad015
`,
    sdk: `
const { message } = await room.removeFile('9f86d081884c7d659a2feaa0c55ad015');
console.log(message);
`,
    cli: `
poproom rm 7KQ2MX photo.jpg
`,
  },
  serveFile: {
    curl: `
curl -O http://localhost:8080/files/9f86d081884c7d659a2feaa0c55ad015/photo.jpg
`,
    sdk: `
import { writeFile } from 'node:fs/promises';

const [file] = await room.files();
const response = await room.download(file);
await writeFile(file.fileName, await response.bytes());
`,
    cli: `
poproom fetch 7KQ2MX photo.jpg
`,
  },
  roomEvents: {
    curl: `
curl -N http://localhost:8080/api/rooms/7KQ2MX/events
`,
    note: 'The SDK and the command line use a WebSocket instead: see the next endpoint.',
  },
  liveChannel: {
    sdk: `
for await (const event of room.live()) {
  if (event.type === 'snapshot') console.log(event.content.content);
  if (event.type === 'content') console.log(event.content);
}
`,
    cli: `
poproom watch 7KQ2MX
`,
    note:
      '[The live channel](live.md) explains how to use the WebSocket without the SDK. Most versions of curl do not ' +
      'support WebSocket.',
  },
  health: {
    curl: `
curl http://localhost:8080/api/health
`,
    sdk: `
const { status, uptime } = await client.health();
console.log(status, uptime);
`,
    note: 'The SDK throws an error if the server is `degraded`. There is no command for this request.',
  },
  getLimits: {
    curl: `
curl http://localhost:8080/api/limits
`,
    note: 'The SDK has the limits of a room in `room.info()`.',
  },
  openapi: {
    curl: `
curl http://localhost:8080/api/openapi.json
`,
  },
  asyncapi: {
    curl: `
curl http://localhost:8080/api/asyncapi.json
`,
  },
  docs: {
    curl: `
curl http://localhost:8080/docs
`,
  },
  live: {
    curl: `
curl http://localhost:8080/livez
`,
  },
  ready: {
    curl: `
curl http://localhost:8080/readyz
`,
  },
  robots: {
    curl: `
curl http://localhost:8080/robots.txt
`,
  },
  metrics: {
    curl: `
curl http://localhost:8080/metrics
`,
  },
  adminNumbers: {
    curl: `
curl http://localhost:8080/api/admin/numbers -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin numbers
`,
    note: 'The SDK has no methods for operators. `poproom admin --help` lists all commands.',
  },
  adminRooms: {
    curl: `
curl 'http://localhost:8080/api/admin/rooms?sort=size&limit=10' -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom rooms --admin --sort size --limit 10
`,
  },
  adminRevealRoom: {
    curl: `
curl -X POST http://localhost:8080/api/admin/rooms/7KQ2MX/reveal -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin reveal 7KQ2MX
`,
    prints: { cli: /^[0-9A-Z]{6,}$/m },
  },
  adminRemoveRoom: {
    curl: `
curl -X DELETE http://localhost:8080/api/admin/rooms/7KQ2MX -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin rm 7KQ2MX
`,
  },
  adminReports: {
    curl: `
curl http://localhost:8080/api/admin/reports -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin reports
`,
  },
  adminDismissReport: {
    curl: `
curl -X DELETE http://localhost:8080/api/admin/reports/7d1e40c9ab -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin dismiss 7d1e40c9ab
`,
  },
  adminClients: {
    curl: `
curl 'http://localhost:8080/api/admin/clients?sort=bytes' -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin clients --sort bytes
`,
    prints: { cli: /^127\.0\.0\.1 /m },
  },
  adminBlocks: {
    curl: `
curl http://localhost:8080/api/admin/blocks -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin blocks
`,
    prints: { cli: /^[0-9a-f]{10} +203\.0\.113\.0\/24 /m },
  },
  adminBlock: {
    curl: `
curl http://localhost:8080/api/admin/blocks -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"range": "198.51.100.0/24", "reason": "automated sign-ups", "expiresIn": 86400}'
`,
    cli: `
poproom admin block 198.51.100.0/24 --reason 'automated sign-ups' --expires 1d
`,
  },
  adminUnblock: {
    curl: `
curl -X DELETE http://localhost:8080/api/admin/blocks/5e0c9ab412 -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin unblock 5e0c9ab412
`,
    prints: { cli: /^Unblocked / },
  },
  adminKeys: {
    curl: `
curl http://localhost:8080/api/admin/keys -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin keys
`,
    prints: { cli: /^[0-9a-f]{10} .* pro /m },
  },
  adminRevokeKey: {
    curl: `
curl -X DELETE http://localhost:8080/api/admin/keys/0a1b2c3d4e -H "Authorization: Bearer $POPROOM_ADMIN_TOKEN"
`,
    cli: `
poproom admin revoke 0a1b2c3d4e
`,
    prints: { cli: /revoked/i },
  },
};
