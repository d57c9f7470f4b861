/** The page at /invite: with an invitation in its fragment it answers it, otherwise it shows one as a QR code. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { listen } from '../../components/listen.ts';
import '../../style/invite.css';
import { AnswerPage } from './answer-page.tsx';
import { ScreenPage } from './screen-page.tsx';

export function InvitePage() {
  const invitation = useSignal(takeInvitation());
  // A second QR code in the same tab changes only the fragment.
  useEffect(() => listen('hashchange', () => (invitation.value = takeInvitation(invitation.peek()))), []);
  const { value } = invitation;
  return value === '' ? <ScreenPage /> : <AnswerPage key={value} fragment={value} />;
}

/** Removes the invitation from the address bar, and keeps it for a reload. */
function takeInvitation(current = savedInvitation()): string {
  const { hash } = location;
  const invitation = hash === '' || hash === skipLink ? current : hash.slice(1);
  history.replaceState(invitation ? { invitation } : null, '', location.pathname);
  return invitation;
}

const savedInvitation = (): string => String(history.state?.invitation ?? '');

/** The link that skips the header is not an invitation. */
const skipLink = '#main';
