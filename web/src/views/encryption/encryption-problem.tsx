/** Says that the server sent data which the devices of the room have not written, and shows the text that is kept here. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Button } from '../../components/controls.tsx';
import type { IconName } from '../../components/icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { forgetSeen, openKeptText } from '../../room/encryption.ts';
import type { PhaseNamed, RoomModel } from '../../room/room-phase.ts';
import { MessagePage } from '../message-page.tsx';
import { KeptText } from '../room/text-actions.tsx';

const messages = {
  ROLLBACK: ['rollbackTitle', 'rollbackHint'],
  FORK: ['forkTitle', 'forkHint'],
  DATA_DAMAGED: ['damagedTitle', 'damagedHint'],
  NOT_ENCRYPTED: ['notEncryptedTitle', 'notEncryptedHint'],
} as const;

/** The server has an older text than this device has seen, or another one. */
const isOlder = ({ code }: PoproomError): boolean => code === 'ROLLBACK' || code === 'FORK';

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
