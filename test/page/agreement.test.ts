/** Several devices that write into one room at a time, with everything on the network left to chance. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { PoproomError, type WriteAnswer } from '../../src/client/index.ts';
import { createSharedText, type SharedText, type Version } from '../../web/src/room/shared-text.ts';
import { type Chance, seededChance } from '../support/seeded-random.ts';

const rounds = 300;
const steps = 40;

describe('several shared texts', () => {
  it('[PAGE-8] end up alike and lose no word, in whatever order things arrive', async (t) => {
    const chance = seededChance(t);
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    for (let round = 0; round < rounds; round++)
      await meet(t, chance, [write, write, remove, arrive, read, arrive, read]);
  });

  it('[PAGE-8] [PAGE-15] end up alike and lose no word when connections break as well', async (t) => {
    const chance = seededChance(t);
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    for (let round = 0; round < rounds; round++)
      await meet(t, chance, [write, write, remove, arrive, read, arrive, read, cut, comeBack, comeBack]);
  });
});

interface Participant {
  name: string;
  text: SharedText;
  isUp: boolean;
  /** Writes on their way to the server. */
  outgoing: (() => void)[];
  /** What the server told it, on its way. */
  incoming: (() => void)[];
  /** Writes without an answer. */
  unanswered: Set<PromiseWithResolvers<WriteAnswer>>;
}

interface Meeting {
  chance: Chance;
  participants: Participant[];
  stored: Version;
  /** All that were written. */
  words: Set<string>;
  /** Words that someone removed on purpose. */
  removed: Set<string>;
  history: string[];
}

type Step = (meeting: Meeting, who: Participant) => void;

async function meet(t: TestContext, chance: Chance, possible: readonly Step[]): Promise<void> {
  const meeting = begin(chance);
  for (let step = 0; step < steps; step++) {
    chance.pick(possible)(meeting, chance.pick(meeting.participants));
    t.mock.timers.tick(chance.number(300));
    await settled();
  }
  for (const who of meeting.participants) comeBack(meeting, who);
  for (let quiet = 0; quiet < 3; quiet++) {
    for (const who of meeting.participants) {
      arrive(meeting, who);
      while (who.incoming.length > 0) read(meeting, who);
    }
    t.mock.timers.tick(1_000);
    await settled();
    if (meeting.participants.some(({ outgoing, incoming }) => outgoing.length + incoming.length > 0)) quiet = 0;
  }
  check(meeting);
}

function begin(chance: Chance): Meeting {
  const stored = { content: chance.pick(['', 'one', 'one two three\nfour five\n']), version: 1 };
  const meeting: Meeting = { chance, participants: [], stored, words: new Set(), removed: new Set(), history: [] };
  meeting.participants = ['A', 'B', 'C'].map((name) => enter(meeting, name));
  return meeting;
}

function enter(meeting: Meeting, name: string): Participant {
  const who: Participant = {
    name,
    isUp: true,
    outgoing: [],
    incoming: [],
    unanswered: new Set(),
    text: createSharedText({
      write(content, baseVersion) {
        const answer = Promise.withResolvers<WriteAnswer>();
        who.unanswered.add(answer);
        if (who.isUp) who.outgoing.push(() => take(meeting, who, content, baseVersion, answer));
        return answer.promise;
      },
      largest: 1024 * 1024,
      drafts: { load: () => undefined, save: () => undefined },
    }),
  };
  who.text.online(true);
  who.text.begin(meeting.stored);
  return who;
}

/** The server. */
function take(
  meeting: Meeting,
  from: Participant,
  content: string,
  baseVersion: number,
  answer: PromiseWithResolvers<WriteAnswer>,
): void {
  const timestamp = '2026-11-15T09:30:00.000Z';
  const say = (told: WriteAnswer) =>
    from.incoming.push(() => {
      from.unanswered.delete(answer);
      answer.resolve(told);
    });
  if (baseVersion !== meeting.stored.version) {
    say({ type: 'conflict', ...meeting.stored, timestamp });
    return;
  }
  const stored = { content, version: baseVersion + 1 };
  meeting.stored = stored;
  note(meeting, `${from.name} stores ${stored.version}`, content);
  say({ type: 'written', seq: stored.version, version: stored.version, timestamp });
  for (const other of meeting.participants.filter((other) => other !== from && other.isUp))
    other.incoming.push(() => other.text.receive(stored));
}

const arrive: Step = (_, who) => who.outgoing.shift()?.();

const read: Step = (meeting, who) => {
  if (who.incoming.length === 0) return;
  who.incoming.shift()?.();
  note(meeting, `${who.name} reads`, who.text.value.value);
};

/** A word at a gap between others, or a line of its own. */
const write: Step = ({ chance, words, ...meeting }, who) => {
  const word = `${who.name}${words.size}w`;
  words.add(word);
  const present = who.text.value.value;
  const gaps = [0, ...present.matchAll(/[ \n]/g).map(({ index }) => index + 1), present.length];
  const at = chance.pick([...gaps]);
  who.text.edit(present.slice(0, at) + chance.pick([`${word} `, `${word}\n`, `\n${word} `]) + present.slice(at));
  note(meeting, `${who.name} writes`, who.text.value.value);
};

const remove: Step = ({ chance, words, removed, ...meeting }, who) => {
  const before = who.text.value.value;
  const from = chance.number(before.length);
  const after = before.slice(0, from) + before.slice(from + chance.number(12));
  for (const word of words) if (before.includes(word) && !after.includes(word)) removed.add(word);
  who.text.edit(after);
  note(meeting, `${who.name} removes`, after);
};

/** What is on its way, either way, is lost. */
const cut: Step = (meeting, who) => {
  if (!who.isUp) return;
  note(meeting, `${who.name} is cut off`, who.text.value.value);
  who.isUp = false;
  who.outgoing = [];
  who.incoming = [];
  const code = meeting.chance.pick(['OFFLINE', 'UNAVAILABLE'] as const);
  for (const { reject } of who.unanswered) reject(new PoproomError(code, 'Whether it was stored is not known.'));
  who.unanswered.clear();
  who.text.online(false);
};

const comeBack: Step = (meeting, who) => {
  if (who.isUp) return;
  who.isUp = true;
  who.text.online(true);
  who.text.begin(meeting.stored);
  note(meeting, `${who.name} is back`, who.text.value.value);
};

function check({ participants, stored, words, removed, history }: Meeting): void {
  const told = history.join('\n');
  for (const { name, text } of participants) {
    assert.equal(text.value.value, stored.content, `${name} has what the server has\n${told}`);
    assert.equal(text.status.value, 'saved');
  }
  // Who typed around a word of another, and collided, finds it in their own passage.
  const places = [stored.content, ...participants.flatMap(({ text }) => text.unplaced.value)];
  for (const word of words) {
    if (removed.has(word)) continue;
    assert.ok(
      places.some((place) => place.includes(word)),
      `${word} is nowhere\n${told}`,
    );
  }
}

function note({ history }: Pick<Meeting, 'history'>, what: string, text: string): void {
  history.push(`${what}: ${JSON.stringify(text)}`);
}
