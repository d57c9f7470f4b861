/**
 * A bot that sits in a room and answers. Write one of these on a line of its own, and the answer appears beneath it:
 *
 *   /time        what time it is
 *   /roll 2d6    two dice of six sides
 *
 * Start it with the link of a room; it ends when the room does, or with Ctrl-C:
 *
 *   node examples/answering-bot.mjs http://localhost:8080/r/7KQ2MX
 */
import { randomInt } from 'node:crypto';
import { createClient, PoproomError } from 'poproom/client';

const link = URL.parse(process.argv[2] ?? '');
if (!link) {
  console.error('Say the link of a room, such as http://localhost:8080/r/7KQ2MX.');
  process.exit(2);
}
const { origin, pathname } = link;
const room = createClient({ url: origin, deviceName: 'Bot' }).room(pathname.split('/').at(-1));

const leaving = new AbortController();
process.once('SIGINT', () => leaving.abort());

const live = room.live({ signal: leaving.signal });
let text = { content: '', version: 0 };
let answering = Promise.resolve();

// Goes on through interruptions by itself. First we are told the whole room, then each change; what we write ourselves is
// not told to us again. After each event we look whether an answer is missing, so that none is forgotten while offline.
// The loop does not wait for it: it must go on to notice that a connection is lost.
for await (const event of live) {
  if (event.type === 'connected') console.log(`Listening in ${room.code}.`);
  if (event.type === 'snapshot') note(event.content);
  if (event.type === 'content') note(event);
  answering = answering.then(answer);
}
await answering;
console.log('Good-bye.');

function note(newer) {
  if (newer.version > text.version) text = newer;
}

async function answer() {
  const { version } = text;
  const content = withAnswers(text.content);
  if (content === text.content) return;
  try {
    // On a conflict someone else was faster, and nothing was overwritten: we go on from theirs.
    const reply = await live.write(content, version);
    note(reply.type === 'written' ? { content, version: reply.version } : reply);
    await answer();
  } catch (error) {
    // There will be another event when the connection is back.
    if (!(error instanceof PoproomError && error.code === 'OFFLINE')) throw error;
  }
}

/** The text, with an answer beneath each question that has none yet. */
function withAnswers(text) {
  const lines = text.split('\n');
  return lines
    .flatMap((line, i) => {
      const isAnswered = lines[i + 1]?.startsWith('→ ');
      const reply = isAnswered ? undefined : replyTo(line);
      return reply ? [line, `→ ${reply}`] : [line];
    })
    .join('\n');
}

function replyTo(line) {
  if (line.trim() === '/time') return new Date().toLocaleTimeString();
  const [, count, sides] = /^\/roll ([1-9])d([1-9]\d?)\s*$/.exec(line) ?? [];
  if (count) return Array.from({ length: Number(count) }, () => randomInt(Number(sides)) + 1).join(' + ');
}
