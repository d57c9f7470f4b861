/** Links with a role in the invitation: a new one, its QR code, and the list of all. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { LinkRole } from '../../../../src/protocol/link-rights.ts';
import type { Link } from '../../../../src/protocol/types.ts';
import { Button, Problem } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { notify } from '../../components/notices.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { t } from '../../i18n/all-strings.ts';
import type { RoomModel } from '../../room/room-phase.ts';
import { linkTo } from '../../router.ts';
import { useRemoteList, useSubmission } from '../requests.ts';
import '../../style/role-links.css';

/** By the address for others, and with the fragment that an encrypted room needs. */
const addressOf = ({ linkId, link }: Link): string => linkTo(linkId, /#(.+)$/.exec(link ?? '')?.[1]);

/** Without a name, the last symbols tell links apart. */
const nameOf = ({ name, linkId }: Link): string => name ?? `…${linkId.slice(-4)}`;

/** `share`: another way to pass a link on. */
type Props = { room: RoomModel; role: LinkRole; share: (link: string) => ComponentChildren };

/** Of one role: another one is another instance. */
export function RoleLinks({ room, role, share }: Props) {
  const { list, problem, change } = useRemoteList(async () => (await room.requests()).links());
  const shown = useSignal<Link | undefined>(undefined);
  const name = useRef<HTMLInputElement>(null);

  const { onSubmit } = useSubmission(async () => {
    const title = name.current?.value.trim();
    await change(async () => {
      shown.value = await (await room.requests()).createLink({ role, ...(title && { name: title }) });
    });
    return undefined;
  });
  const revoke = ({ linkId }: Link) =>
    change(async () => {
      await (await room.requests()).revokeLink(linkId);
      if (shown.value?.linkId === linkId) shown.value = undefined;
      notify(t('linkRevoked'));
    });

  const own = list.value.filter((link) => link.role === role);
  const current = shown.value;
  const label = t('linkRevoke');
  return (
    <>
      <p>{t(role === 'read' ? 'linkReadHint' : 'linkDropHint')}</p>
      {current ? (
        <>
          <QrCode text={addressOf(current)} label={t('qrLabel')} />
          <p class="link" dir="ltr">
            {addressOf(current).replace(/^https?:\/\//, '')}
          </p>
          <div class="actions">
            <CopyButton text={addressOf(current)} label={t('copyLink')} icon="link" />
            {share(addressOf(current))}
            <Button icon="plus" label={t('linkNew')} onClick={() => (shown.value = undefined)} />
          </div>
          {role === 'read' && room.content.value.isEncrypted && <p class="aside">{t('linkHasKey')}</p>}
        </>
      ) : (
        <form class="new-link" onSubmit={onSubmit}>
          <label class="field">
            <span>{t('linkName')}</span>
            <input ref={name} type="text" dir="auto" maxLength={64} autocomplete="off" />
          </label>
          <Button type="submit" class="primary" label={t('linkCreate')} />
        </form>
      )}
      <Problem>{problem.value}</Problem>
      {own.length > 0 && (
        <ul class="link-list" aria-label={t('linkList')}>
          {own.map((link) => (
            <li key={link.linkId}>
              <button
                type="button"
                class="link-name"
                aria-pressed={current?.linkId === link.linkId}
                onClick={() => (shown.value = link)}
              >
                <span dir="auto">{nameOf(link)}</span>
                <small>
                  {t(link.lastUsed ? 'linkLastUsed' : 'linkNeverUsed')}{' '}
                  {link.lastUsed && <TimeAgo at={link.lastUsed} />}
                </small>
              </button>
              <Button
                class="danger"
                label={label}
                aria-label={`${label}: ${nameOf(link)}`}
                onClick={() => revoke(link)}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
