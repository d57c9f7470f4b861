/**
 * The introduction in Markdown: `description` of the OpenAPI document and first chapters of the API guide. Limits are
 * written as `{{textSize}}`: see `LimitPhrases`.
 */
export const guide = `
Poproom shares one text and some files between devices through short-lived rooms. There are no accounts: create a room, \
enter its code on the other device, and both show the same text and files. When the room expires, everything in it is \
deleted.

## Quick start

Create a room. The response contains its code.

\`\`\`sh
curl -X POST http://localhost:8080/api/rooms
\`\`\`

Write to it. Replace \`7KQ2MX\` with the code of your room.

\`\`\`sh
curl -X POST http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'Content-Type: application/json' \\
  -d '{"content": "Hello"}'
\`\`\`

Read it from any other device.

\`\`\`sh
curl http://localhost:8080/api/rooms/7KQ2MX/content
\`\`\`

## Rooms

- A code has six or more digits and capital letters, without \`I\`, \`L\`, \`O\` and \`U\`. Input is lenient: case, \
spaces and dashes are ignored, \`O\` is read as \`0\`, and \`I\` and \`L\` as \`1\`. Responses contain the canonical form.
- A room expires after {{roomLifetime}}, or after \`expiresIn\` seconds. It then returns \`410 ROOM_EXPIRED\` for a day, and \
\`404 ROOM_NOT_FOUND\` after that. A deleted room returns \`404\` immediately.
- A room holds one text and some files. \`GET /api/limits\` returns how large they may be.
- Send \`X-Device-Id\` with an id of your choice to count as a device in \`deviceCount\` for 60 seconds.

## PIN

A room created with a \`pin\`, a string of four digits, requires it for every operation. Send it in the header \
\`X-Room-Pin\`, which stays out of access logs. If you cannot set headers, use \`?pin=\`, the field \`pin\` of a JSON \
body, or a form field \`pin\` before the file. A room without a PIN ignores it.

A request without a PIN returns \`401 PIN_REQUIRED\`. A request with a wrong PIN returns \`403 PIN_INCORRECT\`. Wrong \
PINs lead to these locks, each with \`Retry-After\`:

| wrong PINs | locked out | error |
| --- | --- | --- |
| 5 for one room, from one client | that client, for 30 seconds; twice as long after each further one, up to an hour | \`429 PIN_LOCKED\` |
| 50 for one room within an hour, from all clients | clients that never sent the correct PIN, for the rest of the hour | \`429 PIN_LOCKED\` |
| 80 over the lifetime of a room, from all clients | clients that never sent the correct PIN, until the PIN is changed or the room ends | \`429 PIN_LOCKED\` |
| {{misses}}, across all rooms, from one client | that client, from all rooms for the rest of the hour | \`429 RATE_LIMITED\` |

- A failed lookup is a wrong PIN or an unknown room code.
- Despite the second and third lock, a client whose network has not sent a wrong PIN has one try.
- The URL of a file needs no PIN: anyone who knows \`fileUrl\` can read the file until its room ends.

## Encrypted rooms

A room created with \`encryption\` stores only data that clients have encrypted (sealed) with its room key, which the \
server never receives. Its code starts with \`E\`, and no other code does. The SDK and the command line encrypt and \
decrypt for you. The document \`docs/encryption.md\` in the repository defines the format.

- Every request needs the header \`X-Room-Auth\`, which clients derive from the key. Without it, the server returns \
\`401 KEY_REQUIRED\` with the salt for the derivation in \`details\`.
- A wrong value returns \`403 KEY_INCORRECT\`. After five wrong values, further wrong ones from the same client return \
\`429 KEY_LOCKED\`. The correct one always works.
- Data that is not sealed returns \`400 ENCRYPTION_REQUIRED\`.

## API keys

{{keyRule}} Without a key, requests are on the free tier and count against your IP address. The operator creates keys \
with \`poproom keys create\`.

\`\`\`sh
curl http://localhost:8080/api/rooms/7KQ2MX -H 'Authorization: Bearer pop_…'
\`\`\`

The header \`X-API-Key\` works too. An unknown or revoked key returns \`401 INVALID_API_KEY\`. A missing key returns \
\`401 API_KEY_REQUIRED\` if the server requires one.

## Who may create rooms

{{createRule}} Everyone with a code can join a room. \`roomCreation\` in \`GET /api/limits\` is one of these:

| value | who may create rooms | error for others |
| --- | --- | --- |
| \`open\` | everyone | |
| \`key\` | clients with an API key | \`401 API_KEY_REQUIRED\` |
| \`password\` | clients that send the password, or a token from \`POST /api/create-token\`, as \`X-Create-Password\` | \`401 PASSWORD_REQUIRED\`, \`403 PASSWORD_INCORRECT\` |
| \`proxy\` | users who have signed in at the proxy of the server | \`403 SIGN_IN_REQUIRED\` |

An API key always works.

## Rate limits

The free tier allows {{freeRequests}}, and the pro tier {{proRequests}}. The hour starts with your first request. \
Every request under \`/api\` counts, unless its description says otherwise. File downloads, pages and probes do not \
count. To upload many files, announce them with \`uploads\` in \`POST …/tickets\`: they then count as one request. \
Every response contains your current limit:

\`\`\`http
RateLimit-Policy: "free";q=100;w=3600
RateLimit: "free";r=87;t=1243
X-RateLimit-Limit: 100
X-RateLimit-Remaining: 87
X-RateLimit-Reset: 1794736843
\`\`\`

In this example, 87 of 100 requests in 3,600 seconds remain, and the limit resets in 1,243 seconds. A request over the \
limit returns \`429 RATE_LIMITED\`, with the seconds to wait in \`Retry-After\`.

## Errors

All errors have the same format. Use \`code\` in programs, show \`message\` to people, and include the \`requestId\` when \
you contact the operator. Every response also has it in the header \`X-Request-Id\`.

\`\`\`json
{
  "success": false,
  "error": {
    "code": "PIN_INCORRECT",
    "message": "Wrong PIN. 4 tries left.",
    "details": { "triesLeft": 4 }
  },
  "requestId": "pZ3kVw8q-2s"
}
\`\`\`

An unknown path returns \`404 NOT_FOUND\`. A known path with an unsupported method returns \`405 METHOD_NOT_ALLOWED\` \
with \`Allow\`. If a response has \`Retry-After\`, wait that many seconds before you try again.

## Conventions

- A request that creates something, such as a room, a file or a link, returns \`201\`. Continuing and cancelling a \
resumable upload return \`204\`, and other successful requests \`200\`.
- Timestamps are UTC with milliseconds: \`2026-11-15T09:30:00.000Z\`. Sizes are in bytes.
- JSON bodies are UTF-8 with \`Content-Type: application/json\`. The server rejects unknown fields, so that typos are \
noticed.
- Texts of 1 KiB or more are compressed if \`Accept-Encoding\` allows \`br\` or \`gzip\` (\`curl --compressed\`).
- The server logs the trace id of a valid \`traceparent\`.
- To retry a write safely, send an \`Idempotency-Key\`. The repeated response has \`Idempotency-Replayed: true\`.
- \`HEAD\` works wherever \`GET\` does.
- Pages of any origin may call the API (CORS, without credentials). Their requests count against the limits of the \
visitor, but can use up only half of the visitor's failed lookups. The server rejects other cross-site requests, such \
as images and forms.
- Code generators create clients from \`/api/openapi.json\`. openapi-generator for Python and Go is tested by hand. \
openapi-python-client leaves out the continuation of resumable uploads.
- Future versions only add to \`/api\`. Ignore fields that you do not know.
`.trim();
