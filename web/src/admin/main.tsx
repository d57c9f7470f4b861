/** The admin page: asks for the token, and shows one section at a time. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Logo } from '../components/icon.tsx';
import { type AdminError, call, forgetToken, storedToken, storeToken } from './api.ts';
import { Blocks } from './blocks.tsx';
import { Clients } from './clients.tsx';
import { Keys } from './keys.tsx';
import { Overview } from './overview.tsx';
import { Reports } from './reports.tsx';
import { Rooms } from './rooms.tsx';
import type { SectionProps } from './section.tsx';

const sections = {
  overview: { title: 'Overview', View: Overview },
  rooms: { title: 'Rooms', View: Rooms },
  reports: { title: 'Reports', View: Reports },
  clients: { title: 'Clients', View: Clients },
  blocks: { title: 'Blocks', View: Blocks },
  keys: { title: 'Keys', View: Keys },
};

type SectionName = keyof typeof sections;

function App() {
  const [isSignedIn, setSignedIn] = useState(storedToken() !== null);
  const signOut = () => {
    forgetToken();
    setSignedIn(false);
  };
  return (
    <>
      <header>
        <a class="brand" href="./">
          <Logo />
          <span>Poproom</span>
        </a>
        <span class="title">Admin</span>
        {isSignedIn && (
          <button type="button" class="sign-out" onClick={signOut}>
            Sign out
          </button>
        )}
      </header>
      {isSignedIn ? <Sections onSignedOut={signOut} /> : <SignIn onSignedIn={() => setSignedIn(true)} />}
    </>
  );
}

function Sections(props: SectionProps) {
  const current = useSection();
  const { title, View } = sections[current];
  return (
    <>
      <nav aria-label="Sections">
        {Object.entries(sections).map(([name, { title }]) => (
          <a key={name} href={`#${name}`} {...(name === current && { 'aria-current': 'page' as const })}>
            {title}
          </a>
        ))}
      </nav>
      <main>
        <h1>{title}</h1>
        <View key={current} {...props} />
      </main>
    </>
  );
}

function useSection(): SectionName {
  const [name, setName] = useState(sectionInUrl);
  useEffect(() => {
    const onChange = () => setName(sectionInUrl());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return name;
}

function sectionInUrl(): SectionName {
  const name = location.hash.slice(1);
  return Object.hasOwn(sections, name) ? (name as SectionName) : 'overview';
}

type SignInState = { state: 'typing'; problem?: string } | { state: 'checking' };

/** Asks for the admin token, and checks it before it is kept. */
function SignIn({ onSignedIn }: { onSignedIn(): void }) {
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
      setStatus({ state: 'typing', problem: problemOf(error as AdminError) });
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

/** For a person at a form; the message of the API speaks of headers. */
const problemOf = ({ code, message }: AdminError): string =>
  code === 'INVALID_ADMIN_TOKEN' ? 'Wrong token. Check it and try again.' : message;

const root = document.getElementById('app');
if (root) render(<App />, root);
