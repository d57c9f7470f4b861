/** A shared text: a replica of the room's text with undo, which sends its edits over a live channel. */
import { type Changes, toEdits } from '../../text/changes.ts';
import { diffTexts } from '../../text/diff.ts';
import { cutsPair, findProblem, joinAdjacent, type TextEdit } from '../../text/edits.ts';
import { randomId } from '../room-access.ts';
import type { ChannelCodec } from '../room-encryption.ts';
import { batchIntervalMs, createDelivery, createTextStatus } from './delivery.ts';
import { createReceiver } from './receiver.ts';
import { noVersion, Replica } from './replica.ts';
import type { SavedText, SharedText, TextChange, TextChannel, TextEvents, TextLink } from './shared-text.ts';
import { channels } from './shared-text.ts';
import { createUndoHistory } from './undo.ts';

export interface SharedTextOptions {
  /** Orders insertions at the same position. Default: that of the client, or a random one. */
  deviceId?: string | undefined;
  /** Continues with unconfirmed edits from `save()`, for example after a reload. */
  saved?: SavedText | undefined;
  /** Monotonic clock in milliseconds; for tests. */
  now?: (() => number) | undefined;
  /** Runs a callback after a delay, and returns a function that cancels it; for tests. */
  schedule?: ((callback: () => void, ms: number) => () => void) | undefined;
}

/** Creates a text without a connection. `room.live({ text })` connects it. */
export function createSharedText(options: SharedTextOptions = {}): SharedText {
  const { saved, now = () => performance.now(), schedule = scheduleTimeout } = options;
  const replica = new Replica(saved);
  const undoHistory = createUndoHistory(now);
  /** No other text object uses these refs. */
  const refPrefix = randomId();
  let refs = 0;
  const delivery = createDelivery(replica, () => `${refPrefix}-${++refs}`, { now, schedule }, batchMs);
  const events = createEmitter();
  const status = createTextStatus(replica, delivery, () => events.emit('state'));
  const receiver = createReceiver({ replica, delivery, status, deviceId: ownDeviceId, onLoaded, onRemoteChange });
  let deviceId = saved?.deviceId ?? options.deviceId;
  /** Set for the text of an encrypted room. */
  let codec: ChannelCodec | undefined;
  let isAlone = true;

  /** Without an id, the first call sets that of the client, or a random one. */
  function ownDeviceId(clientDeviceId?: string): string {
    deviceId ??= clientDeviceId ?? randomId();
    return deviceId;
  }

  function batchMs(): number | undefined {
    return codec && (isAlone ? batchIntervalMs.alone : batchIntervalMs.withOthers);
  }

  function onLoaded(version: number): void {
    const words = codec?.takeLost(version);
    if (words) events.emit('lost', words);
  }

  function onRemoteChange(changes: Changes, author?: string): void {
    undoHistory.onRemoteChange(changes);
    delivery.onPendingChanged();
    if (!changes.empty) events.emit('change', { edits: toEdits(changes), origin: 'remote', deviceId: author });
    status.update();
  }

  function edit(edits: readonly TextEdit[]): void {
    const local = toLocalEdits(edits, replica.value);
    if (local.length === 0) return;
    undoHistory.record(local, replica.value);
    applyLocal(local, 'local');
  }

  function applyLocal(edits: readonly TextEdit[], origin: TextChange['origin']): TextChange {
    replica.edit(edits);
    delivery.onEdited();
    const change: TextChange = { edits, origin };
    events.emit('change', change);
    status.update();
    return change;
  }

  /** With the position in the chain of versions, so that the text of an encrypted room continues it. */
  function save(): SavedText | undefined {
    const state = replica.save(ownDeviceId());
    const seen = codec && state ? codec.seenAt(state.version) : saved?.seen;
    return state && seen?.version === state.version ? { ...state, seen } : state;
  }

  const text: SharedText = {
    get value() {
      return replica.value;
    },
    get version() {
      return replica.version;
    },
    get timestamp() {
      return replica.timestamp;
    },
    get state() {
      return status.state();
    },
    get isOnline() {
      return delivery.isOnline();
    },
    get refusal() {
      return status.refusal();
    },
    get canUndo() {
      return undoHistory.canUndo();
    },
    get canRedo() {
      return undoHistory.canRedo();
    },

    positionAt: (version, position) => replica.positionAt(version, position),
    edit,
    insert: (position, inserted) => edit([{ from: position, to: position, insert: inserted }]),
    append: (appended) => text.insert(replica.value.length, appended),

    replace(content) {
      undoHistory.endGroup();
      edit(diffTexts(replica.value, content.toWellFormed()));
      undoHistory.endGroup();
    },

    undo() {
      const edits = undoHistory.undo(replica.value);
      return edits && applyLocal(edits, 'undo');
    },

    redo() {
      const edits = undoHistory.redo(replica.value);
      return edits && applyLocal(edits, 'redo');
    },

    endGroup: undoHistory.endGroup,
    on: events.on,
    synchronized: status.synchronized,
    flush: delivery.flush,
    save,
    close: status.close,
  };
  channels.set(text, createChannel());
  return text;

  function createChannel(): TextChannel {
    /** A connection on which the missed edits have not arrived yet. */
    let joining: TextLink | undefined;

    /** Edits are sent when they are based on the newest version. */
    function startIfCaughtUp(): void {
      if (!joining || !receiver.isCaughtUp()) return;
      const link = joining;
      joining = undefined;
      status.onConnected();
      delivery.onConnected(link);
      status.update();
    }

    return {
      bindCodec(create) {
        const { content, timestamp = '', seen } = save() ?? {};
        codec = create(content === undefined ? { content: '', timestamp } : { content, timestamp, seen });
        return codec;
      },

      join(clientDeviceId) {
        const { needsSnapshot, diverged } = receiver.onJoin();
        const own = { edits: true, deviceId: ownDeviceId(clientDeviceId), needsSnapshot } as const;
        if (diverged) return { ...own, diverged };
        if (replica.version === noVersion) return own;
        return { ...own, version: replica.version, timestamp: replica.timestamp };
      },

      onConnected(link) {
        if (status.isClosed()) return;
        if (!receiver.isInSync()) return link.reconnect();
        joining = link;
        startIfCaughtUp();
      },

      onMessage(message) {
        if (status.isClosed()) return;
        if (message.type === 'snapshot' || message.type === 'devices')
          isAlone = message.devices.every((device) => device.deviceId === ownDeviceId());
        receiver.onMessage(message);
        if (receiver.isInSync()) startIfCaughtUp();
        else joining?.reconnect();
      },

      onDisconnected() {
        joining = undefined;
        delivery.onDisconnected();
        status.update();
      },

      onFailed(error) {
        if (!status.isClosed()) status.onFailed(error);
      },
    };
  }
}

function scheduleTimeout(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

function createEmitter() {
  const entries = new Set<{ event: keyof TextEvents; listener: unknown }>();
  /** The calls that are due, of which the first one is running. */
  const queue: (() => void)[] = [];

  return {
    /** Returns a function that removes the listener. */
    on<E extends keyof TextEvents>(event: E, listener: TextEvents[E]): () => void {
      const entry = { event, listener };
      entries.add(entry);
      return () => entries.delete(entry);
    },

    /** An event that a listener emits waits until all listeners have received the current one. */
    emit<E extends keyof TextEvents>(event: E, ...args: Parameters<TextEvents[E]>): void {
      const isRunning = queue.length > 0;
      for (const entry of entries) {
        if (entry.event !== event) continue;
        const listener = entry.listener as (...args: Parameters<TextEvents[E]>) => void;
        queue.push(() => {
          if (entries.has(entry)) listener(...args);
        });
      }
      if (isRunning) return;
      for (let [next] = queue; next; [next] = queue) {
        callSafely(next);
        queue.shift();
      }
    },
  };
}

/** Reports the error of a listener as uncaught, without interrupting the text. */
function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Drops edits without effect, joins adjacent ones and widens one that splits a surrogate pair. Checks the positions. */
function toLocalEdits(edits: readonly TextEdit[], text: string): TextEdit[] {
  checkPositions(edits, text.length);
  return joinAdjacent(edits)
    .map((edit) => widen(edit, text))
    .filter(({ from, to, insert }) => insert !== text.slice(from, to));
}

function checkPositions(edits: readonly TextEdit[], length: number): void {
  const ranges = edits.map(({ from, to }) => ({ from, to, insert: '' }));
  const misfit = ranges.find(({ from, to }) => !Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0);
  const found = findProblem(ranges, length);
  if (found?.problem === 'overlapping') throw new RangeError('Edits must be in ascending order and must not overlap.');
  const wrong = misfit ?? (found && ranges[found.index]);
  if (wrong)
    throw new RangeError(`${wrong.from} to ${wrong.to} is not a valid range in a text of ${length} code units.`);
}

/** Includes the other half of a surrogate pair that the edit would split. */
function widen({ from, to, insert }: TextEdit, text: string): TextEdit {
  const start = cutsPair(text, from) ? from - 1 : from;
  const end = cutsPair(text, to) ? to + 1 : to;
  const whole = text.slice(start, from) + insert + text.slice(to, end);
  return { from: start, to: end, insert: whole.toWellFormed() };
}
