/** The key of an encrypted room, for people who pass it on. */
import { Button, IconButton } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { shareUrl } from '../../router.ts';
import '../../style/encryption.css';
import { type Signal, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { useLeaveQuestion } from '../../components/leave-question.ts';
import { keepKey, keptKey } from '../../device/room-keys.ts';

/** `H4T9-WZ3B-NQ6Y-RC88`. */
export const groupKey = (key: string): string => key.replace(/.{4}(?=.)/g, '$&-');

export function RoomKey({ room }: { room: RoomModel }) {
  const key = room.phase.value.attempt.encryption?.key ?? '';
  return (
    <div class="room-key">
      <p class="key-label">{t('roomKey')}</p>
      <p class="key" dir="ltr">
        <span class="visually-hidden">{[...key].join(' ')}</span>
        <b aria-hidden="true">{groupKey(key)}</b>
      </p>
      <CopyButton text={groupKey(key)} label={t('copyKey')} compact />
    </div>
  );
}

const host = (): string => shareUrl.replace(/^https?:\/\//, '');

export const KeyInviteHint = () => <>{t('inviteKeyHint', { host: host() })}</>;

/** A page cannot remove a link from the history of the browser. */
export function KeyAdvice() {
  return (
    <div class="key-advice">
      <p class="aside">{t('linkHasKey')}</p>
      <details>
        <summary>{t('typeKey')}</summary>
        <p class="aside">{t('typeKeyHint', { host: host() })}</p>
      </details>
    </div>
  );
}

/** A lock that says what the encryption of the room means, and who has its key. */
export function EncryptionLock({ room }: { room: RoomModel }) {
  const isOpen = useSignal(false);
  const title = t('encrypted');
  return (
    <>
      <IconButton class="encryption-lock" icon="lock" label={title} onClick={() => (isOpen.value = true)} />
      <KeyGuard room={room} />
      {isOpen.value && (
        <Dialog title={title} onClose={() => (isOpen.value = false)}>
          <p>{t('encryptedWhat')}</p>
          <p>{t('encryptedWho')}</p>
          <RoomKey room={room} />
          <KeyAdvice />
          <KeepKey room={room} />
          <p class="aside">{t('encryptedLimits')}</p>
        </Dialog>
      )}
    </>
  );
}

/** For a room that is joined. */
function KeepKey({ room }: { room: RoomModel }) {
  const onChange = (isKept: boolean) => keepKey(room.code, isKept ? keyOf(room) : undefined);
  return <KeepKeyOption isKept={keptKey(room.code) !== undefined} hint={t('keepKeyHint')} onChange={onChange} />;
}

/** For a room that is about to be started. */
export function KeepNewKey({ keepsKey }: { keepsKey: Signal<boolean> }) {
  const onChange = (isKept: boolean) => (keepsKey.value = isKept);
  return <KeepKeyOption isKept={keepsKey.value} hint={t('keepNewKeyHint')} onChange={onChange} />;
}

type OptionProps = { isKept: boolean; hint: string; onChange: (isKept: boolean) => void };

export function KeepKeyOption({ isKept, hint, onChange }: OptionProps) {
  const hintId = useId();
  return (
    <label class="check keep-key">
      <input
        type="checkbox"
        checked={isKept}
        aria-label={t('keepKey')}
        aria-describedby={hintId}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>
        {t('keepKey')}
        <small id={hintId}>{hint}</small>
      </span>
    </label>
  );
}

/** Asks before the last device with the key leaves the room. */
function KeyGuard({ room }: { room: RoomModel }) {
  const isLast = room.content.value.devices.length < 2;
  const proceed = useLeaveQuestion(isLast && keptKey(room.code) === undefined);
  const leave = proceed.value;
  if (!leave) return null;
  const keepAndLeave = () => {
    keepKey(room.code, keyOf(room));
    leave();
  };
  return (
    <Dialog title={t('leaveKeyTitle')} onClose={() => (proceed.value = undefined)}>
      <p>{t('leaveKeyHint')}</p>
      <form method="dialog" class="actions">
        <Button type="submit" label={t('stay')} />
        <Button type="submit" class="danger" label={t('leave')} onClick={leave} />
        <Button type="submit" class="primary" label={t('leaveKeyKeep')} onClick={keepAndLeave} />
      </form>
    </Dialog>
  );
}

const keyOf = (room: RoomModel): string | undefined => room.phase.peek().attempt.encryption?.key;
