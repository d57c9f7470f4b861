/** The essentials in prose, as Markdown: the `description` of the OpenAPI document and the first chapters of the page. */
export const guide = `
Poproom shares one text and some files between devices through short-lived rooms. There is no account: make a room, \
type its code on the other device, and both have the same text and files. When the room expires, everything in it is gone.

## Three commands

Make a room. The answer names its code.

\`\`\`sh
curl -X POST http://localhost:8080/api/rooms
\`\`\`

Write to it, with the code you were given in place of \`7KQ2MX\`.

\`\`\`sh
curl -X POST http://localhost:8080/api/rooms/7KQ2MX/content \\
  -H 'Content-Type: application/json' \\
  -d '{"content": "Hello"}'
\`\`\`

Read it, from anywhere else.

\`\`\`sh
curl http://localhost:8080/api/rooms/7KQ2MX/content
\`\`\`

## Rooms

- A code has six or more digits and capitals, without \`I\`, \`L\`, \`O\` and \`U\`. Type it as you like: any case, \
spaces and dashes are dropped, \`O\` reads as \`0\`, \`I\` and \`L\` as \`1\`. Answers carry the canonical form.
- A room lives 24 hours, or as long as \`expiresIn\` asked for. After that it is \`410 ROOM_EXPIRED\` for a day, then \
\`404 ROOM_NOT_FOUND\`. A deleted room is \`404\` at once.
- A room holds one text of at most 1 MiB, and at most 100 files of 10 MiB each, 100 MiB in all.
- Send \`X-Device-Id\`, a name of your own choice, and the device counts in \`deviceCount\` for 60 seconds.

## PIN

A room made with a \`pin\`, a string of four digits, asks for it on every operation. Send it as the header \
\`X-Room-Pin\`, which stays out of logs. Where headers cannot be set, \`?pin=\`, the field \`pin\` of a JSON body, or a \
form field \`pin\` before the file do too. A room without a PIN ignores it.

- No PIN is \`401 PIN_REQUIRED\`, a wrong one \`403 PIN_INCORRECT\`.
- After 5 wrong ones you are locked out of that room for 30 seconds, then twice as long each time, up to an hour: \
\`429 PIN_LOCKED\` with \`Retry-After\`.
- After 50 wrong ones within an hour, or 100 in the life of a room, from anyone, clients that have never sent the right \
one are locked out; a client in a network that has not guessed still has one try.
- After 20 unknown codes or wrong PINs within an hour, over all rooms, look-ups are \`429 RATE_LIMITED\` for the rest \
of that hour.

The address of a file needs no PIN: whoever knows \`fileUrl\` may read the file, until its room is gone.

## API keys

A key is optional: without one, requests are on the free tier and count for your address. The operator of a server makes \
keys with \`poproom keys create\`, and may ask everyone for one.

\`\`\`sh
curl http://localhost:8080/api/rooms/7KQ2MX -H 'Authorization: Bearer pop_…'
\`\`\`

The header \`X-API-Key\` does the same. An unknown or revoked key is \`401 INVALID_API_KEY\`; none, where one is asked \
for, is \`401 API_KEY_REQUIRED\`.

## Rate limits

100 requests an hour on the free tier, 1,000 on pro, unless the operator set other numbers. The hour begins with your \
first request. Every request under \`/api\` counts; downloads of files, pages and the probes do not. Every response \
says where you stand:

\`\`\`http
RateLimit-Policy: "free";q=100;w=3600
RateLimit: "free";r=87;t=1243
X-RateLimit-Limit: 100
X-RateLimit-Remaining: 87
X-RateLimit-Reset: 1794736843
\`\`\`

Of 100 requests in 3,600 seconds, 87 remain, and in 1,243 seconds there are 100 again. Over the limit: \
\`429 RATE_LIMITED\`, with the seconds to wait in \`Retry-After\`.

## Errors

Every error, from whatever layer, has one shape. Act on \`code\`, show \`message\`, and name the \`requestId\` when you ask \
the operator; the header \`X-Request-Id\` has it too, on every response.

\`\`\`json
{
  "success": false,
  "error": {
    "code": "PIN_INCORRECT",
    "message": "This is not the PIN of the room; 4 tries are left.",
    "details": { "triesLeft": 4 }
  },
  "requestId": "pZ3kVw8q-2s"
}
\`\`\`

Two can meet you anywhere: an unknown path is \`404 NOT_FOUND\`, a known one with another method \
\`405 METHOD_NOT_ALLOWED\` with \`Allow\`. Where there is \`Retry-After\`, wait that long.

## Good to know

- Creation and upload answer \`201\`, everything else that succeeds \`200\`.
- Timestamps are UTC with milliseconds: \`2026-11-15T09:30:00.000Z\`. Sizes are in bytes.
- JSON bodies are UTF-8 with \`Content-Type: application/json\`; a field that we do not know is refused, so that a typo \
does not go unnoticed.
- \`HEAD\` works wherever \`GET\` does. Pages of any origin may call the API (CORS, without credentials), with half \
of their visitor's requests and misses. Other cross-site requests, such as images and forms, are refused.
- What is new under \`/api\` only ever adds: ignore fields that you do not know.
`.trim();
