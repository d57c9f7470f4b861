/** Answers what the command line asks of a running server that alone may change its rooms. */

import { mapInBatches } from './concurrency.ts';
import type { Clock, Log, OperatorInbox, OperatorRequest, RoomStore } from './ports.ts';
import type { Rooms } from './rooms.ts';

export interface OperatorDeps {
  inbox: OperatorInbox;
  store: Pick<RoomStore, 'listDevices'>;
  rooms: Pick<Rooms, 'end'>;
  clock: Clock;
  log: Log;
}

const pollMs = 500;

/** Looks for requests until it is told to stop, which is what it returns. */
export function answerOperator({ inbox, store, rooms, clock, log }: OperatorDeps): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isFailing = false;

  async function answerAll(): Promise<void> {
    for (const { id, request } of await inbox.unanswered()) await inbox.answer(id, await answer(request));
  }

  async function answer(request: OperatorRequest): Promise<unknown> {
    if ('remove' in request) {
      const absences = await mapInBatches(request.remove, (code) => rooms.end(code));
      const removed = absences.filter((absence) => absence === undefined).length;
      log.info({ rooms: removed }, 'removed rooms for the operator');
      return absences.map((absence) => absence ?? 'removed');
    }
    const devices = await mapInBatches(request.countDevices, (code) => store.listDevices(code, clock()));
    return devices.map(({ length }) => length);
  }

  /** It is tried again at every poll, and logged once. */
  function onFailure(err: unknown): void {
    if (!isFailing) log.warn({ err }, 'requests of the command line cannot be answered');
    isFailing = true;
  }

  const timer = setInterval(() => {
    running ??= answerAll()
      .then(() => {
        isFailing = false;
      }, onFailure)
      .finally(() => {
        running = undefined;
      });
  }, pollMs);
  timer.unref();

  return async () => {
    clearInterval(timer);
    await running;
  };
}
