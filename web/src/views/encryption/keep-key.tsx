/** Whether this device keeps the key of a room when the tab is closed, and the question before the key is lost. */
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { useLeaveQuestion } from '../../components/leave-question.ts';
import { keepKey, keptKey } from '../../device/room-keys.ts';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room.ts';
import '../../style/encryption.css';

/** For a room that is joined. */
export function KeepKey({ room }: { room: RoomModel }) {
  return (
    <KeepKeyOption
      isKept={keptKey(room.code) !== undefined}
      hint={t('keepKeyHint')}
      onChange={(isKept) => keepKey(room.code, isKept ? keyOf(room) : undefined)}
    />
  );
}

/** For a room that is about to be started. */
export function KeepNewKey({ keepsKey }: { keepsKey: Signal<boolean> }) {
  return (
    <KeepKeyOption
      isKept={keepsKey.value}
      hint={t('keepNewKeyHint')}
      onChange={(isKept) => {
        keepsKey.value = isKept;
      }}
    />
  );
}

interface OptionProps {
  isKept: boolean;
  hint: string;
  onChange: (isKept: boolean) => void;
}

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
export function KeyGuard({ room }: { room: RoomModel }) {
  const isLast = room.content.value.devices.length < 2;
  const proceed = useLeaveQuestion(isLast && keptKey(room.code) === undefined);
  const leave = proceed.value;
  if (!leave) return null;
  return (
    <Dialog
      title={t('leaveKeyTitle')}
      onClose={() => {
        proceed.value = undefined;
      }}
    >
      <p>{t('leaveKeyHint')}</p>
      <form method="dialog" class="actions">
        <button type="submit" class="button">
          {t('stay')}
        </button>
        <button type="submit" class="button danger" onClick={leave}>
          {t('leave')}
        </button>
        <button
          type="submit"
          class="button primary"
          onClick={() => {
            keepKey(room.code, keyOf(room));
            leave();
          }}
        >
          {t('leaveKeyKeep')}
        </button>
      </form>
    </Dialog>
  );
}

const keyOf = (room: RoomModel): string | undefined => room.phase.peek().attempt.encryption?.key;
