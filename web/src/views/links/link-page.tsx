/**
 * The page of a link with a role: a room to read, or a place to drop files. It shows nothing else of the room. The keys of
 * an encrypted room are in the fragment of its link, and stay in this tab.
 */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import { createRoomPin } from '../../../../src/client/room-access.ts';
import { isEncryptedCode, type LinkId } from '../../../../src/protocol/room-code.ts';
import { Button } from '../../components/controls.tsx';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { deviceId } from '../../device/device-id.ts';
import { appearance } from '../../device/identity.ts';
import { savedKey, saveNewKey, takeKeyFromAddress } from '../../device/room-keys.ts';
import { isBoolean, sessionStore } from '../../device/storage.ts';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import { limits } from '../../page-settings.ts';
import type { OpenedLink } from '../../room/room-phase.ts';
import { openRequests } from '../../room/room-requests.ts';
import { toPoproomError } from '../../server-connection.ts';
import { MessagePage } from '../message-page.tsx';
import { AbuseContact } from '../server-notes.tsx';
import { DropPage } from './drop-page.tsx';
import { ReadPage } from './read-page.tsx';
import '../../style/role-links.css';

const LinkProblem = lazy(() => import('../encryption/encryption-problem.tsx'), 'LinkProblem');

type State = 'opening' | 'ended' | 'incomplete' | 'damaged' | { error: PoproomError } | { link: OpenedLink };

export function LinkPage({ id }: { id: LinkId }) {
  const state = useSignal<State>('opening');

  async function open(): Promise<void> {
    const fragment = takeKeyFromAddress(id) ?? savedKey(id);
    state.value = 'opening';
    state.value = await tryToOpen(id, fragment);
    if (state.value === 'ended') forgetKeys(id);
  }

  function onEnd(error?: PoproomError): void {
    state.value = !error || hasEnded(error) ? 'ended' : { error };
    if (state.value === 'ended') forgetKeys(id);
  }

  useEffect(() => {
    void open();
    // The whole link, opened in this tab, changes only the fragment.
    return listen('hashchange', () => {
      const isShown = typeof state.peek() === 'object' && 'link' in (state.peek() as object);
      if (takeKeyFromAddress(id) && !isShown) void open();
    });
  }, [id]);

  const { value } = state;
  if (typeof value === 'string') return <Message state={value} />;
  if ('error' in value) return <Problem id={id} error={value.error} onRetry={() => void open()} />;
  const { link } = value;
  const isDrop = link.role === 'drop';
  return (
    <>
      {isDrop ? <DropPage link={link} onEnd={() => forgetKeys(id)} /> : <ReadPage link={link} onEnd={onEnd} />}
      {limits.abuseContact && <AbuseContact room={{ requests: async () => link.room }} />}
    </>
  );
}

const messages = {
  ended: ['linkGone', 'linkGoneHint'],
  incomplete: ['linkIncomplete', 'linkIncompleteHint'],
  damaged: ['linkDamaged', 'linkDamagedHint'],
} as const;

function Message({ state }: { state: Extract<State, string> }) {
  if (state === 'opening')
    return (
      <p class="link-opening" role="status">
        {t('linkOpening')}
      </p>
    );
  const [title, hint] = messages[state];
  return <MessagePage key={state} title={t(title)} hint={t(hint)} />;
}

function Problem({ id, error, onRetry }: { id: LinkId; error: PoproomError; onRetry: () => void }) {
  if (/^(ROLLBACK|FORK|DATA_DAMAGED|NOT_ENCRYPTED)$/.test(error.code)) {
    const openAnyway = () => void forgetSeen(id).then(onRetry);
    return <LinkProblem error={error} onRetry={onRetry} onOpenAnyway={openAnyway} />;
  }
  const retry = <Button class="primary" label={t('tryAgain')} onClick={onRetry} />;
  return <MessagePage title={errorMessage(error)} action={retry} />;
}

async function tryToOpen(id: LinkId, fragment: string | undefined): Promise<State> {
  try {
    // By its id or its fragment, never by what the server says.
    if (fragment !== undefined) return { link: await openSealed(id, fragment) };
    if (isEncryptedCode(id)) return sessionStore.get(`ended:${id}`, isBoolean) ? 'ended' : 'incomplete';
    return await openPlain(id);
  } catch (cause) {
    const error = toPoproomError(cause);
    if (error.code === 'KEY_WRONG') return 'damaged';
    return hasEnded(error) ? 'ended' : { error };
  }
}

async function openPlain(id: LinkId): Promise<State> {
  const room = openRequests({ code: id, pin: createRoomPin(undefined), ...appearance(deviceId) });
  const info = await room.info();
  return info.encrypted ? 'incomplete' : { link: { role: info.role ?? 'read', room, info } };
}

const forgetSeen = async (id: LinkId): Promise<void> => (await loadEncryption()).forgetLinkSeen(id);

/** Files are sealed, and texts are opened, whatever the server says about the room. */
async function openSealed(id: LinkId, fragment: string): Promise<OpenedLink> {
  const { openSealedLink } = await loadEncryption();
  const link = await openSealedLink(id, fragment);
  return { ...link, info: await link.room.info() };
}

const loadEncryption = () => import('../../room/encryption.ts');

const hasEnded = ({ code }: PoproomError): boolean => /^ROOM_(NOT_FOUND|EXPIRED)$/.test(code);

/** The link has ended. A reload says so again. */
function forgetKeys(id: LinkId): void {
  saveNewKey(id, undefined);
  sessionStore.set(`ended:${id}`, true);
}
