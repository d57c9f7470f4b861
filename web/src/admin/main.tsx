/** The admin page: asks for the token, and shows one section at a time. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Logo } from '../components/controls.tsx';
import { listen } from '../components/listen.ts';
import { call, token } from './api.ts';
import { Blocks, Clients, Keys } from './clients.tsx';
import { Overview } from './overview.tsx';
import { Reports, Rooms } from './rooms.tsx';
import { Button, Problem, useAction } from './section.tsx';

const sections = {
  overview: { title: 'Overview', View: Overview },
  rooms: { title: 'Rooms', View: Rooms },
  reports: { title: 'Reports', View: Reports },
  clients: { title: 'Clients', View: Clients },
  blocks: { title: 'Blocks', View: Blocks },
  keys: { title: 'Keys', View: Keys },
};

function App() {
  const isSignedIn = token.value !== null;
  return (
    <>
      <header>
        <a class="brand" href="./">
          <Logo />
          <span>Poproom</span>
        </a>
        <span class="title">Admin</span>
        {isSignedIn && <Button text="Sign out" class="sign-out" onClick={() => (token.value = null)} />}
      </header>
      {isSignedIn ? <Sections /> : <SignIn />}
    </>
  );
}

function Sections() {
  const [current, setCurrent] = useState(sectionInUrl);
  useEffect(() => listen('hashchange', () => setCurrent(sectionInUrl())), []);
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
        <View key={current} />
      </main>
    </>
  );
}

function sectionInUrl(): keyof typeof sections {
  const name = location.hash.slice(1);
  return Object.hasOwn(sections, name) ? (name as keyof typeof sections) : 'overview';
}

/** Asks for the admin token, and checks it before it is kept. */
function SignIn() {
  const [isChecking, setChecking] = useState(false);
  const action = useAction();

  async function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    const bearer = String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim();
    setChecking(true);
    if (await action.run(() => call('blocks', { bearer }))) token.value = bearer;
    setChecking(false);
  }

  const problem = isChecking ? undefined : action.problem;
  // For a person at a form; the message of the API speaks of headers.
  const isWrong = problem?.code === 'INVALID_ADMIN_TOKEN';
  const message = isWrong ? 'Wrong token. Check it and try again.' : problem?.message;
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
        {message && <Problem message={message} />}
        <button class="primary" type="submit" disabled={isChecking}>
          {isChecking ? 'Checking…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

render(<App />, document.getElementById('app') as HTMLElement);
