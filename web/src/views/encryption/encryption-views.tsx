/** What only encrypted rooms show: their key, the question for it, and that the server sent other data. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Button, Icon, IconButton, type IconName } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Countdown, useNow } from '../../components/countdown.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { codeInput } from '../../components/form-fields.tsx';
import { keepKey, keptKey, keyIn, knownRoom, takeRoom } from '../../device/recent-rooms.ts';
import { t } from '../../i18n/all-strings.ts';
import { roughTime } from '../../i18n/strings.ts';
import { forgetSeen, openKeptText, prepareKeys } from '../../room/encryption.ts';
import type { PhaseNamed, RoomModel } from '../../room/room-phase.ts';
import { goToRoom, shareUrl, useLeaveQuestion } from '../../router.ts';
import { MessagePage } from '../message-page.tsx';
import { RetryCountdown } from '../room/alerts.tsx';
import type { PromptProps } from '../room/pin-pad.tsx';
import { KeptText } from '../room/text-actions.tsx';
import '../../style/encryption.css';
import '../../style/forms.css';

/** `H4T9-WZ3B-NQ6Y-RC88`. */
const groupKey = (key: string): string => key.replace(/.{4}(?=.)/g, '$&-');

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
          <KeepKeyOption
            isKept={keptKey(room.code) !== undefined}
            hint={t('keepKeyHint')}
            onChange={(isKept) => keepKey(room.code, isKept ? keyOf(room) : undefined)}
          />
          <p class="aside">{t('encryptedLimits')}</p>
        </Dialog>
      )}
    </>
  );
}

/** For a room that is about to be started. */
export function KeepNewKey({ keepsKey }: { keepsKey: Signal<boolean> }) {
  const onChange = (isKept: boolean) => (keepsKey.value = isKept);
  return <KeepKeyOption isKept={keepsKey.value} hint={t('keepNewKeyHint')} onChange={onChange} />;
}

type OptionProps = { isKept: boolean; hint: string; onChange: (isKept: boolean) => void };

function KeepKeyOption({ isKept, hint, onChange }: OptionProps) {
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

export function KeyPrompt({ room, prompt, isChecking }: PromptProps) {
  const typed = useSignal('');
  const keepsKey = useSignal(false);
  const isMissing = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  const isLocked = useNow() < (prompt.lockedUntil ?? 0);

  // A key with a typo stays, to be corrected.
  useLayoutEffect(() => field.current?.select(), [prompt, isLocked]);

  function open(text: string): void {
    if (isLocked || isChecking) return;
    isMissing.value = text.trim() === '';
    if (isMissing.value) return void field.current?.focus();
    const linked = keyIn(text) && takeRoom(text);
    if (linked && linked !== room.code) goToRoom(linked);
    else room.join({ key: keyIn(text) ?? text, keepsKey: keepsKey.value });
  }

  function onSubmit(event: Event): void {
    event.preventDefault();
    open(typed.value);
  }

  const isWrong = (prompt.isWrong || isLocked || isMissing.value) && !isChecking;
  return (
    <form class="pin-view key-view" onSubmit={onSubmit}>
      <span class="message-icon">
        <Icon name="lock" />
      </span>
      <h1>{t('keyTitle', { code: room.code })}</h1>
      <p class="pin-state" id="key-state" role="alert" data-wrong={isWrong || undefined}>
        <KeyStatus {...{ room, prompt, isChecking, isLocked }} isMissing={isMissing.value} />
      </p>
      <label class="field">
        <span>{t('keyLabel')}</span>
        <input
          ref={field}
          class="key-input"
          {...codeInput}
          placeholder="H4T9-WZ3B-NQ6Y-RC88"
          readOnly={isLocked || isChecking}
          aria-invalid={prompt.isWrong}
          aria-describedby="key-state"
          value={typed.value}
          onInput={({ currentTarget, isComposing }) => {
            if (!isComposing) groupTyped(currentTarget);
            typed.value = currentTarget.value;
            void prepareKeys(room.code, currentTarget.value);
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData('text') ?? '';
            if (!keyIn(pasted)) return;
            event.preventDefault();
            typed.value = pasted;
            open(pasted);
          }}
        />
      </label>
      <KeepKeyOption isKept={keepsKey.value} hint={t('keepKeyHint')} onChange={(isKept) => (keepsKey.value = isKept)} />
      <button type="submit" class="button primary large" aria-disabled={isLocked || isChecking}>
        {t('openRoom')}
        <Icon name="arrow" />
      </button>
    </form>
  );
}

/** Groups the symbols while they are typed. The caret stays after the same symbol. A link stays as it is. */
function groupTyped(field: HTMLInputElement): void {
  const { value, selectionEnd } = field;
  if (!/^[0-9a-z\s\p{Pd}]*$/iu.test(value)) return;
  const grouped = groupKey(symbolsIn(value));
  if (grouped === value) return;
  const caret = groupKey(symbolsIn(value.slice(0, selectionEnd ?? value.length))).length;
  field.value = grouped;
  field.setSelectionRange(caret, caret);
}

const symbolsIn = (typed: string): string => typed.replace(/[\s\p{Pd}]/gu, '').toUpperCase();

type StatusProps = PromptProps & { isLocked: boolean; isMissing: boolean };

function KeyStatus({ room, prompt, isChecking, isLocked, isMissing }: StatusProps) {
  const { connection } = room.phase.value;
  if (isLocked)
    return <Countdown until={prompt.lockedUntil ?? 0} format={(ms) => t('keyLocked', { time: roughTime(ms) })} />;
  if (isChecking) return connection.type === 'waiting' ? <RetryCountdown connection={connection} /> : t('keyChecking');
  if (isMissing || prompt.code === 'KEY_MALFORMED') return t('keyMalformed');
  if (prompt.code === 'KEY_MISTYPED') return t('keyMistyped');
  if (!prompt.isWrong) return t(knownRoom(room.code)?.isOwn ? 'keyHintOwn' : 'keyHint');
  return prompt.triesLeft ? t('keyWrongTriesLeft', { n: prompt.triesLeft }) : t('keyWrong');
}

const messages = {
  ROLLBACK: ['rollbackTitle', 'rollbackHint'],
  FORK: ['forkTitle', 'forkHint'],
  DATA_DAMAGED: ['damagedTitle', 'damagedHint'],
  NOT_ENCRYPTED: ['notEncryptedTitle', 'notEncryptedHint'],
} as const;

/** The server has an older text than this device has seen, or another one. */
const isOlder = ({ code }: PoproomError): boolean => code === 'ROLLBACK' || code === 'FORK';

/** The server sent data which the devices of the room have not written. Shows the text that is kept here. */
export function EncryptionProblem({ room, phase }: { room: RoomModel; phase: PhaseNamed<'failed'> }) {
  const { error, content, text } = phase;
  const kept = content && text?.shared.value;
  const openAnyway = () => {
    forgetSeen(room.code);
    // Edits that continue the newer version would report it again, so they are dropped with it.
    text?.discard();
    location.reload();
  };
  return (
    <LinkProblem error={error} retryIcon="retry" onRetry={() => room.join()} onOpenAnyway={openAnyway}>
      {kept && <KeptText code={room.code} text={kept} />}
      {isOlder(error) && <p>{t('openAnywayHint')}</p>}
    </LinkProblem>
  );
}

interface LinkProps {
  error: PoproomError;
  onRetry: () => void;
  /** The user accepts another text than before. */
  onOpenAnyway: () => void;
  retryIcon?: IconName;
  children?: ComponentChildren;
}

/** The same for the holder of a link with a role, who has no text of their own. */
export function LinkProblem({ error, onRetry, onOpenAnyway, retryIcon, children }: LinkProps) {
  const [title, hint] = messages[error.code as keyof typeof messages] ?? messages.DATA_DAMAGED;
  const action = isOlder(error) ? (
    <Button label={t('openAnyway')} onClick={onOpenAnyway} />
  ) : (
    <Button class="primary" icon={retryIcon} label={t('tryAgain')} onClick={onRetry} />
  );
  return <MessagePage title={t(title)} hint={t(hint)} extra={children} action={action} />;
}

/** The text of a room that the server does not have, with the edits that were not sent. */
export function KeptDraft({ code, roomKey }: { code: RoomCode; roomKey: string }) {
  const text = useSignal<string | undefined>(undefined);
  useEffect(() => void openKeptText(code, roomKey).then((opened) => (text.value = opened)), []);
  return text.value ? <KeptText code={code} text={text.value} hint={t('draftKept')} /> : null;
}
