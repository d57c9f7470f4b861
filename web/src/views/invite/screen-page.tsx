/** Shows a QR code on a screen without a keyboard. Whoever scans it chooses the room that opens here. */
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Countdown } from '../../components/countdown.tsx';
import { Icon } from '../../components/icon.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { clockOffset } from '../../device/clock.ts';
import { savePin } from '../../device/recent-rooms.ts';
import { saveNewKey } from '../../device/room-keys.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { clockTime } from '../../i18n/quantities.ts';
import { invitationLink, openInviteScreen } from '../../invite/screen.ts';
import type { ScreenState } from '../../invite/screen-state.ts';
import { goHome, goToRoom } from '../../router.ts';

export function ScreenPage() {
  const screen = useMemo(openInviteScreen, []);
  const heading = useRef<HTMLHeadingElement>(null);
  const state = screen.state.value;
  useEffect(() => screen.close, []);
  useEffect(() => onEscape(goHome), []);
  useLayoutEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    if (state.name !== 'invited') return;
    const { code, pin, key } = state.room;
    if (pin) savePin(code, pin);
    if (key) saveNewKey(code, key);
    goToRoom(code);
  }, [state]);

  return (
    <section class="invite-screen">
      <div class="invite-words">
        <h1 ref={heading} tabIndex={-1}>
          {t('screenTitle')}
        </h1>
        <p>{t('screenSteps')}</p>
        <p class="invite-state" role="status">
          <StateText state={state} />
        </p>
        <div class="actions">
          {(state.name === 'expired' || state.name === 'failed') && (
            <button type="button" class="button primary" onClick={screen.renew}>
              <Icon name="retry" />
              {t('newCode')}
            </button>
          )}
          <button type="button" class="button" onClick={goHome}>
            {t('cancel')}
          </button>
        </div>
      </div>
      {state.name === 'showing' ? (
        <QrCode text={invitationLink(state.meeting)} label={t('screenQr')} />
      ) : (
        <div class="qr-place">{state.name !== 'creating' && <Icon name="qr" />}</div>
      )}
    </section>
  );
}

function StateText({ state }: { state: ScreenState }) {
  switch (state.name) {
    case 'showing':
      if (state.isOffline) return <>{t('cannotReachServer')}</>;
      return (
        <Countdown
          until={state.meeting.expiresAt + clockOffset.value}
          format={(ms) => t('timeLeft', { time: clockTime(ms) })}
        />
      );
    case 'invited':
      return <>{t('joining', { code: state.room.code })}</>;
    case 'expired':
      return <>{t('screenExpired')}</>;
    case 'failed':
      return <>{errorMessage(state.error)}</>;
    default:
      return <>{t('loading')}</>;
  }
}

/** Escape closes an open dialog first. */
function onEscape(act: () => void): () => void {
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'Escape' && !document.querySelector('dialog[open]')) act();
  };
  addEventListener('keydown', onKeyDown);
  return () => removeEventListener('keydown', onKeyDown);
}
