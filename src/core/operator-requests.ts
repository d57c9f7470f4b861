/** Handles requests of the command line to the running server, which is the only one that may change its rooms. */

import { createRepetition, mapInBatches } from './concurrency.ts';
import type { OperatorInbox, OperatorRequest } from './ports/admin.ts';
import type { Clock, Log } from './ports/basics.ts';
import type { RoomStore } from './ports/rooms.ts';
import type { Rooms } from './rooms.ts';

interface OperatorDeps {
  inbox: OperatorInbox;
  store: Pick<RoomStore, 'listDevices'>;
  rooms: Pick<Rooms, 'end'>;
  clock: Clock;
  log: Log;
}

const pollMs = 500;

/** Polls for requests. Returns a function that stops this. */
export function answerOperator({ inbox, store, rooms, clock, log }: OperatorDeps): () => Promise<void> {
  let isFailing = false;

  async function answerAll(): Promise<void> {
    for (const { id, request } of await inbox.unanswered()) await inbox.answer(id, await answer(request));
    isFailing = false;
  }

  async function answer(request: OperatorRequest): Promise<unknown> {
    if ('remove' in request) {
      const outcomes = await mapInBatches(request.remove, (code) => rooms.end(code));
      const removed = outcomes.filter((reason) => reason === undefined).length;
      log.info({ rooms: removed }, 'removed rooms for the operator');
      return outcomes.map((reason) => reason ?? 'removed');
    }
    const devices = await mapInBatches(request.countDevices, (code) => store.listDevices(code, clock()));
    return devices.map(({ length }) => length);
  }

  /** Retried at every poll, logged once. */
  function onFailure(err: unknown): void {
    if (!isFailing) log.warn({ err }, 'cannot process requests of the command line');
    isFailing = true;
  }

  const polls = createRepetition(answerAll, pollMs, onFailure);
  polls.start();
  return polls.stop;
}
