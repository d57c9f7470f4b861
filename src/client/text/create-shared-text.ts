/** A shared text: a replica of the room's text with undo, which sends its edits over a live channel. */
import { type Changes, toEdits } from '../../text/changes.ts';
import { diffTexts } from '../../text/diff.ts';
import type { TextEdit } from '../../text/edits.ts';
import { PoproomError } from '../error.ts';
import { bindChannel } from './channel.ts';
import { createDelivery } from './delivery.ts';
import { createEmitter } from './emitter.ts';
import { toLocalEdits } from './local-edits.ts';
import { randomId } from './random-id.ts';
import { createReceiver } from './receiver.ts';
import { Replica } from './replica.ts';
import type { SavedText, SharedText, TextChange, TextEvents, TextState } from './shared-text.ts';
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
  const delivery = createDelivery(replica, createRefs(), { now, schedule });
  const events = createEmitter<TextEvents>();
  const waiters = new Set<PromiseWithResolvers<void>>();
  let deviceId = saved?.deviceId ?? options.deviceId;
  let refusal: PoproomError | undefined;
  /** Why the server cannot confirm edits until the text is connected again. */
  let failure: PoproomError | undefined;
  let isClosed = false;
  let announced = describeState();

  function state(): TextState {
    if (!replica.isLoaded) return 'loading';
    return replica.pending.state === 'unsent' ? 'awaiting-answer' : replica.pending.state;
  }

  function describeState(): string {
    return [state(), delivery.isOnline, refusal?.code].join();
  }

  function announceState(): void {
    if (state() === 'synchronized') settleWaiters(({ resolve }) => resolve());
    const current = describeState();
    if (current === announced) return;
    announced = current;
    events.emit('state');
  }

  function settleWaiters(settle: (waiter: PromiseWithResolvers<void>) => void): void {
    for (const waiter of waiters) settle(waiter);
    waiters.clear();
  }

  function fail(error: PoproomError): void {
    failure = error;
    delivery.onDisconnected();
    settleWaiters(({ reject }) => reject(error));
    announceState();
  }

  function applyLocal(edits: readonly TextEdit[], origin: TextChange['origin']): TextChange {
    replica.edit(edits);
    delivery.onEdited();
    const change: TextChange = { edits, origin };
    events.emit('change', change);
    announceState();
    return change;
  }

  function edit(edits: readonly TextEdit[]): void {
    const local = toLocalEdits(edits, replica.value);
    if (local.length === 0) return;
    undoHistory.record(local, replica.value);
    applyLocal(local, 'local');
  }

  function onRemoteChange(changes: Changes, author?: string): void {
    undoHistory.onRemoteChange(changes);
    delivery.onPendingChanged();
    if (!changes.empty) events.emit('change', { edits: toEdits(changes), origin: 'remote', deviceId: author });
    announceState();
  }

  const receiver = createReceiver({
    replica,
    delivery,
    deviceId: ownDeviceId,
    onRemoteChange,
    onConfirmed() {
      refusal = undefined;
    },
    onRefused(error) {
      refusal = error;
      settleWaiters(({ reject }) => reject(error));
      announceState();
    },
  });

  function ownDeviceId(clientDeviceId?: string): string {
    deviceId ??= clientDeviceId ?? randomId();
    return deviceId;
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
      return state();
    },
    get isOnline() {
      return delivery.isOnline;
    },
    get refusal() {
      return refusal;
    },
    get canUndo() {
      return undoHistory.canUndo;
    },
    get canRedo() {
      return undoHistory.canRedo;
    },

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

    synchronized() {
      if (state() === 'synchronized') return Promise.resolve();
      const error = failure ?? (delivery.isRefused ? refusal : undefined);
      if (error) return Promise.reject(error);
      const waiter = Promise.withResolvers<void>();
      waiters.add(waiter);
      return waiter.promise;
    },

    flush: delivery.flush,
    save: () => replica.save(ownDeviceId()),
    close() {
      isClosed = true;
      fail(failure ?? closedError());
    },
  };

  bindChannel(text, {
    join(clientDeviceId) {
      const needsSnapshot = receiver.onJoin();
      const own = { edits: true, deviceId: ownDeviceId(clientDeviceId), needsSnapshot } as const;
      return needsSnapshot ? own : { ...own, version: replica.version, timestamp: replica.timestamp };
    },

    onConnected(link) {
      if (isClosed) return;
      if (receiver.isOutOfSync) return link.reconnect();
      failure = undefined;
      delivery.onConnected(link);
      announceState();
    },

    onMessage: (message) => !isClosed && receiver.receive(message),

    onDisconnected() {
      delivery.onDisconnected();
      announceState();
    },

    onFailed(error) {
      if (!isClosed) fail(error);
    },
  });

  return text;
}

/** Generates refs that no other text object uses. */
function createRefs(): () => string {
  const prefix = randomId();
  let count = 0;
  return () => `${prefix}-${++count}`;
}

const closedError = () => new PoproomError('OFFLINE', 'The text was closed.');

function scheduleTimeout(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
