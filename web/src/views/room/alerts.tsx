/** Alerts at the top of a room: a lost connection, a limit, wrong PINs. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Icon } from '../../components/controls.tsx';
import { Countdown, useNow, useServerNow } from '../../components/countdown.tsx';
import { lazy } from '../../components/lazy.tsx';
import { errorMessage, roughTime, t } from '../../i18n/strings.ts';
import type { ConnectionState, RoomModel, TextModel } from '../../room/room-phase.ts';
import { clockOffset, limitedUntil } from '../../server-connection.ts';

export type WaitingConnection = Extract<ConnectionState, { type: 'waiting' }>;

const loadDialogs = () => import('./dialogs.tsx');
const AttemptsAlert = lazy(loadDialogs, 'AttemptsAlert');
const ExpiryAlert = lazy(loadDialogs, 'ExpiryAlert');
const MissingWordsAlert = lazy(loadDialogs, 'MissingWordsAlert');

type Props = { room: RoomModel; text: TextModel; onExtend: () => void };

export function Alerts({ room, text: { missing }, onExtend }: Props) {
  return (
    <div class="alerts" role="status">
      <ConnectionAlert room={room} />
      {limitedUntil.value !== undefined && <RequestLimitAlert until={limitedUntil.value} />}
      <WrongAttempts room={room} />
      {missing.value && <MissingWordsAlert words={missing.value} onDismiss={() => (missing.value = '')} />}
      <ExpiryWarning room={room} onExtend={onExtend} />
    </div>
  );
}

/** Stays during the attempts to reconnect, so that the page does not jump. */
export function useWaitingConnection(room: RoomModel): WaitingConnection | undefined {
  const waiting = useRef<WaitingConnection>(undefined);
  const { connection } = room.phase.value;
  if (connection.type !== 'connecting') waiting.current = connection.type === 'waiting' ? connection : undefined;
  return waiting.current;
}

function ConnectionAlert({ room }: { room: RoomModel }) {
  const waiting = useWaitingConnection(room);
  if (!waiting) return null;
  const isLost = isConnectionLost(waiting);
  return (
    <p class="alert">
      <Icon name={isLost ? 'offline' : 'clock'} />
      <span>{isLost ? t('connectionLost') : <RetryCountdown connection={waiting} />}</span>
    </p>
  );
}

/** The request limit is used up: the text still works, files have to wait. */
function RequestLimitAlert({ until }: { until: number }) {
  if (useNow() >= until) return null;
  return (
    <p class="alert">
      <Icon name="clock" />
      <span>
        <Countdown until={until} format={(ms) => t('limitFiles', { time: roughTime(ms) })} />
      </span>
    </p>
  );
}

/** Not if a limit is reached. A server that restarts is unreachable for a moment, which is not a problem of its own. */
export const isConnectionLost = ({ error: { code } }: WaitingConnection): boolean =>
  code === 'OFFLINE' || code === 'UNAVAILABLE';

/** Why the connection failed, with the time until the next attempt. */
export const RetryCountdown = ({ connection }: { connection: WaitingConnection }) => (
  <Countdown until={connection.until.getTime()} format={(ms) => errorMessage(connection.error, ms)} />
);

const warningMs = 10 * 60_000;

/** Not in the first half of a short room. An extended room warns again before its new end. */
function ExpiryWarning({ room, onExtend }: Omit<Props, 'text'>) {
  const { expiresAt, since } = room.content.value;
  const dismissed = useSignal(0);
  const left = expiresAt - useServerNow();
  if (left <= 0 || left > Math.min(warningMs, (expiresAt - since) / 2) || dismissed.value === expiresAt) return null;
  const onDismiss = () => (dismissed.value = expiresAt);
  return <ExpiryAlert until={expiresAt + clockOffset.value} onExtend={onExtend} onDismiss={onDismiss} />;
}

/** Wrong PINs or keys that others entered since the room was opened here, and that the user has not dismissed. */
function WrongAttempts({ room }: { room: RoomModel }) {
  const { pinAttempts, isEncrypted } = room.content.value;
  const seen = useSignal(pinAttempts);
  const n = pinAttempts - seen.value;
  if (n <= 0) return null;
  return <AttemptsAlert n={n} isEncrypted={isEncrypted ?? false} onDismiss={() => (seen.value = pinAttempts)} />;
}
