/** The admin page: asks for the token, and shows one section at a time. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PoproomError } from '../../../src/client/error.ts';
import { Logo } from '../components/icon.tsx';
import { listen } from '../components/listen.ts';
import { call, forgetToken, storedToken, storeToken } from './api.ts';
import { Blocks } from './blocks.tsx';
import { Clients } from './clients.tsx';
import { Keys } from './keys.tsx';
import { Overview } from './overview.tsx';
import { Reports } from './reports.tsx';
import { Rooms } from './rooms.tsx';
import { Problem, type SectionProps, useAction } from './section.tsx';

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
  useEffect(() => listen('hashchange', () => setName(sectionInUrl())), []);
  return name;
}

function sectionInUrl(): SectionName {
  const name = location.hash.slice(1);
  return Object.hasOwn(sections, name) ? (name as SectionName) : 'overview';
}

/** Asks for the admin token, and checks it before it is kept. */
function SignIn({ onSignedIn }: { onSignedIn(): void }) {
  const [isChecking, setChecking] = useState(false);
  const action = useAction(onSignedIn);

  async function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    setChecking(true);
    storeToken(String(token).trim());
    if (!(await action.run(() => call('blocks')))) forgetToken();
    setChecking(false);
  }

  const problem = isChecking ? undefined : action.problem;
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
        {problem && <Problem message={messageOf(problem)} />}
        <button class="primary" type="submit" disabled={isChecking}>
          {isChecking ? 'Checking…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

/** For a person at a form; the message of the API speaks of headers. */
const messageOf = ({ code, message }: PoproomError): string =>
  code === 'INVALID_ADMIN_TOKEN' ? 'Wrong token. Check it and try again.' : message;

const root = document.getElementById('app');
if (root) render(<App />, root);
