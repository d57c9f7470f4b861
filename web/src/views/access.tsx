/** Asks for what a private server requires: its password, an API key, or signing in. This device remembers it. */
import { useSignal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { PoproomError } from '../../../src/client/error.ts';
import { createTransport, type Transport } from '../../../src/client/transport.ts';
import { Button, Problem } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import { keepAccess, keptAccess } from '../device/preferences.ts';
import { t } from '../i18n/all-strings.ts';
import { errorMessage } from '../i18n/strings.ts';
import { basePath, baseUrl } from '../page-settings.ts';

type Kind = 'password' | 'key' | 'signIn';

/** Several requests may be refused at the same time. They share one question. */
let asking: Promise<boolean> | undefined;

/** Repeats a refused request once the user has given what the server requires. Rejects if the user closes the dialog. */
export async function retryWithAccess<T>(refusal: PoproomError, attempt: () => Promise<T>, { headers }: Transport) {
  const kind = kindOf(refusal);
  asking ??= ask(kind).finally(() => (asking = undefined));
  if (!(await asking)) throw new PoproomError(refusal.code, t(titles[kind]));
  Object.assign(headers, keptAccess());
  return attempt();
}

const kindOf = ({ code }: PoproomError): Kind =>
  code.startsWith('PASSWORD') ? 'password' : code === 'SIGN_IN_REQUIRED' ? 'signIn' : 'key';

const titles = { password: 'accessPasswordTitle', key: 'accessKeyTitle', signIn: 'accessSignInTitle' } as const;
const hints = { password: 'accessPasswordHint', key: 'accessKeyHint', signIn: 'accessSignInHint' } as const;

/** Resolves with whether the user has answered. */
function ask(kind: Kind): Promise<boolean> {
  const place = document.body.appendChild(document.createElement('div'));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  render(<AccessDialog kind={kind} onClose={resolve} />, place);
  return promise.finally(() => {
    render(null, place);
    place.remove();
  });
}

function AccessDialog({ kind, onClose }: { kind: Kind; onClose: (isGranted: boolean) => void }) {
  return (
    <Dialog title={t(titles[kind])} onClose={() => onClose(false)}>
      <p>{t(hints[kind])}</p>
      {kind === 'signIn' ? (
        // The proxy of the server signs in people who open the home page.
        <a class="button primary large" href={`${basePath}/`}>
          {t('accessSignIn')}
        </a>
      ) : (
        <SecretForm kind={kind} onGranted={() => onClose(true)} />
      )}
    </Dialog>
  );
}

function SecretForm({ kind, onGranted }: { kind: 'password' | 'key'; onGranted: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const isChecking = useSignal(false);
  const problem = useSignal('');
  // After the dialog has opened, which focuses its heading.
  useEffect(() => field.current?.focus(), []);

  async function onSubmit(event: Event) {
    event.preventDefault();
    // A dialog closes when a form in it is submitted.
    event.stopPropagation();
    const secret = field.current?.value.trim() ?? '';
    if (isChecking.value || secret === '') return field.current?.focus();
    isChecking.value = true;
    try {
      keepAccess(await exchange(secret, kind));
      onGranted();
    } catch (error) {
      problem.value = problemOf(error as PoproomError);
      field.current?.select();
    }
    isChecking.value = false;
  }

  return (
    <form class="room-settings" onSubmit={onSubmit} noValidate>
      <label class="field">
        <span>{t(kind === 'password' ? 'accessPassword' : 'accessKey')}</span>
        <input
          ref={field}
          type="password"
          dir="ltr"
          autocomplete="current-password"
          maxLength={200}
          enterKeyHint="go"
          aria-describedby="access-problem"
          onInput={() => (problem.value = '')}
        />
        <small>{t('accessKept')}</small>
      </label>
      <Problem id="access-problem">{problem.value}</Problem>
      <Button type="submit" class="primary large" label={t('accessContinue')} aria-disabled={isChecking.value} />
    </form>
  );
}

/** The headers that grant access. A token stands for the password, and an API key works in place of it. */
async function exchange(secret: string, kind: 'password' | 'key'): Promise<Record<string, string>> {
  const isKey = kind === 'key' || /^pop_\w{32}$/.test(secret);
  // The transport of the page would ask again.
  const apiKey = isKey ? secret : undefined;
  const plain = createTransport({ url: baseUrl, apiKey, withRetry: (attempt) => attempt() });
  if (isKey) {
    await plain.send('/api/limits');
    return { Authorization: `Bearer ${secret}` };
  }
  Object.assign(plain.headers, keptAccess());
  const response = await plain.send('/api/create-token', { method: 'POST', json: { password: secret } });
  return { 'X-Create-Password': String((await response.json()).token) };
}

function problemOf(error: PoproomError): string {
  if (error.code === 'PASSWORD_INCORRECT') return t('accessPasswordWrong');
  if (error.code === 'INVALID_API_KEY') return t('accessKeyWrong');
  return errorMessage(error);
}
