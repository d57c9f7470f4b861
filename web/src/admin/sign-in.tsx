/** Asks for the admin token, and checks it before it is kept. */
import { useState } from 'preact/hooks';
import { call, forgetToken, storeToken } from './api.ts';

type SignInState = { state: 'typing'; problem?: string } | { state: 'checking' };

export function SignIn({ onSignedIn }: { onSignedIn(): void }) {
  const [status, setStatus] = useState<SignInState>({ state: 'typing' });

  async function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    setStatus({ state: 'checking' });
    storeToken(String(token).trim());
    try {
      await call('blocks');
      onSignedIn();
    } catch (error) {
      forgetToken();
      setStatus({ state: 'typing', problem: (error as Error).message });
    }
  }

  const problem = status.state === 'typing' ? status.problem : undefined;
  return (
    <main class="sign-in">
      <h1>Sign in</h1>
      <form class="card" onSubmit={onSubmit}>
        <label class="field">
          <span>Admin token</span>
          <input
            name="token"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            aria-describedby="token-note"
            aria-invalid={problem !== undefined}
          />
        </label>
        <p id="token-note" class="note">
          The value of POPROOM_ADMIN_TOKEN on the server. This tab forgets it when you close it.
        </p>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button class="primary" type="submit" disabled={status.state === 'checking'}>
          {status.state === 'checking' ? 'Checking…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
