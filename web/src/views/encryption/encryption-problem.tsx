/** Says that the server sent data which the devices of the room have not written, and shows the text that is kept here. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { RoomCode } from '../../../../src/protocol/room-code.ts';
import { Icon } from '../../components/icon.tsx';
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

interface Props {
  room: RoomModel;
  phase: PhaseNamed<'failed'>;
}

export function EncryptionProblem({ room, phase }: Props) {
  const { code } = phase.error;
  const [title, hint] = messages[code as keyof typeof messages] ?? messages.DATA_DAMAGED;
  const isOlder = code === 'ROLLBACK' || code === 'FORK';
  const kept = phase.content && phase.text?.shared.value;
  return (
    <MessagePage
      title={t(title)}
      extra={
        <>
          {kept && <KeptText code={room.code} text={kept} />}
          {isOlder && <p>{t('openAnywayHint')}</p>}
        </>
      }
      action={isOlder ? <OpenAnyway code={room.code} phase={phase} /> : <TryAgain room={room} />}
    >
      {t(hint)}
    </MessagePage>
  );
}

interface LinkProps {
  error: PoproomError;
  onRetry: () => void;
  /** The user accepts another text than before. */
  onOpenAnyway: () => void;
}

/** The same for the holder of a link with a role, who has no text of their own. */
export function LinkProblem({ error: { code }, onRetry, onOpenAnyway }: LinkProps) {
  const [title, hint] = messages[code as keyof typeof messages] ?? messages.DATA_DAMAGED;
  const isOlder = code === 'ROLLBACK' || code === 'FORK';
  const action = (
    <button type="button" class={isOlder ? 'button' : 'button primary'} onClick={isOlder ? onOpenAnyway : onRetry}>
      {t(isOlder ? 'openAnyway' : 'tryAgain')}
    </button>
  );
  return (
    <MessagePage title={t(title)} action={action}>
      {t(hint)}
    </MessagePage>
  );
}

/** Edits that continue the newer version would report it again, so they are dropped with it. */
function OpenAnyway({ code, phase }: { code: RoomCode; phase: PhaseNamed<'failed'> }) {
  const open = () => {
    forgetSeen(code);
    phase.text?.discard();
    location.reload();
  };
  return (
    <button type="button" class="button" onClick={open}>
      {t('openAnyway')}
    </button>
  );
}

function TryAgain({ room }: { room: RoomModel }) {
  return (
    <button type="button" class="button primary" onClick={() => room.join()}>
      <Icon name="retry" />
      {t('tryAgain')}
    </button>
  );
}

/** The text of a room that the server does not have, with the edits that were not sent. */
export function KeptDraft({ code, roomKey }: { code: RoomCode; roomKey: string }) {
  const text = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void openKeptText(code, roomKey).then((opened) => {
      text.value = opened;
    });
  }, []);
  return text.value ? <KeptText code={code} text={text.value} hint={t('draftKept')} /> : null;
}
