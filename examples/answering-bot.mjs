/**
 * A bot that joins a room and replies to commands. Type one of these on its own line, and the reply appears below it:
 *
 *   /time        the current time
 *   /roll 2d6    two dice with six sides
 *
 * Start it with the link of a room. It runs until the room ends or you press Ctrl-C:
 *
 *   node examples/answering-bot.mjs http://localhost:8080/r/7KQ2MX
 */
import { randomInt } from 'node:crypto';
import { createClient } from 'poproom/client';

const link = URL.parse(process.argv[2] ?? '');
if (!link) {
  console.error('Usage: node answering-bot.mjs LINK, such as http://localhost:8080/r/7KQ2MX');
  process.exit(2);
}
const { origin, pathname } = link;
const room = createClient({ url: origin, deviceName: 'Bot' }).room(pathname.split('/').at(-1));

const leaving = new AbortController();
process.once('SIGINT', () => leaving.abort());

// A local copy of the room's text. It reconnects automatically, and never overwrites what others write.
const text = room.text({ signal: leaving.signal });

// Called when the text has been received, and after each change. Ignore our own edits.
text.on('change', ({ origin }) => {
  if (origin === 'remote') text.edit(answersTo(text.value));
});

try {
  await text.synchronized();
  console.log(`Listening in ${room.code}.`);
  await text.ended;
  console.log('Good-bye.');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** For each command without a reply, the edit that inserts one below its line. */
function answersTo(content) {
  const questions = [...content.matchAll(/^(\/.*)(?=\n(?!→ ))/gm)];
  return questions.flatMap(({ 0: question, index }) => {
    const answer = answerTo(question);
    const end = index + question.length;
    return answer ? [{ from: end, to: end, insert: `\n→ ${answer}` }] : [];
  });
}

function answerTo(question) {
  if (question.trim() === '/time') return new Date().toLocaleTimeString();
  const [, count, sides] = /^\/roll ([1-9])d([1-9]\d?)\s*$/.exec(question) ?? [];
  if (count) return Array.from({ length: Number(count) }, () => randomInt(Number(sides)) + 1).join(' + ');
}
