/** The webhooks of a room, in its settings: list, add and remove. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PoproomError } from '../../../../src/client/error.ts';
import type { WebhookEntry } from '../../../../src/protocol/types.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { t } from '../../i18n/all-strings.ts';
import { errorMessage } from '../../i18n/error-message.ts';
import type { RoomModel } from '../../room/room-phase.ts';

export function WebhookSettings({ room }: { room: RoomModel }) {
  const list = useSignal<readonly WebhookEntry[]>([]);
  const url = useSignal('');
  const secret = useSignal('');
  const problem = useSignal('');
  const requests = () => room.phase.value.attempt.room.requests();

  async function attempt(work: () => Promise<void>): Promise<void> {
    problem.value = '';
    try {
      await work();
      list.value = await (await requests()).webhooks();
    } catch (error) {
      problem.value = errorMessage(error as PoproomError);
    }
  }

  const load = () => attempt(async () => undefined);
  const add = () =>
    attempt(async () => {
      const created = await (await requests()).createWebhook({
        url: url.value.trim(),
        events: ['text', 'file', 'room'],
      });
      secret.value = created.secret;
      url.value = '';
    });
  const remove = (id: string) => attempt(async () => void (await (await requests()).deleteWebhook(id)));

  useEffect(() => void load(), []);
  return (
    <fieldset class="webhooks">
      <legend>{t('webhooks')}</legend>
      {list.value.map((webhook) => (
        <WebhookRow key={webhook.id} webhook={webhook} onRemove={() => void remove(webhook.id)} />
      ))}
      <label class="field">
        <span>URL</span>
        <input
          type="url"
          dir="ltr"
          autocomplete="off"
          value={url.value}
          onInput={({ currentTarget }) => {
            url.value = currentTarget.value;
          }}
          onKeyDown={(event) => {
            // The form of the settings would be submitted.
            if (event.key !== 'Enter') return;
            event.preventDefault();
            if (url.value) void add();
          }}
        />
        <small>{t('webhookHint')}</small>
      </label>
      <button type="button" class="button" disabled={!url.value} onClick={() => void add()}>
        {t('addWebhook')}
      </button>
      {secret.value && (
        <p class="aside">
          {t('webhookSecret')} <CopyButton text={secret.value} label={t('copySecret')} />
        </p>
      )}
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </fieldset>
  );
}

function WebhookRow({ webhook, onRemove }: { webhook: WebhookEntry; onRemove: () => void }) {
  const { host, lastDelivery, lastError } = webhook;
  return (
    <p class="webhook">
      <bdi dir="ltr">{host}</bdi> {lastDelivery && <TimeAgo at={lastDelivery} />}
      {lastError && <small class="problem">{lastError.message}</small>}
      <button type="button" class="button quiet" aria-label={`${t('remove')}: ${host}`} onClick={onRemove}>
        {t('remove')}
      </button>
    </p>
  );
}
