/** The admin page: asks for the token, and shows one section at a time. */
import { useEffect, useState } from 'preact/hooks';
import { Logo } from '../components/logo.tsx';
import { forgetToken, storedToken } from './api.ts';
import { Blocks } from './blocks.tsx';
import { Clients } from './clients.tsx';
import { Keys } from './keys.tsx';
import { Overview } from './overview.tsx';
import { Rooms } from './rooms.tsx';
import type { SectionProps } from './section.tsx';
import { SignIn } from './sign-in.tsx';

const sections = {
  overview: { title: 'Overview', View: Overview },
  rooms: { title: 'Rooms', View: Rooms },
  clients: { title: 'Clients', View: Clients },
  blocks: { title: 'Blocks', View: Blocks },
  keys: { title: 'Keys', View: Keys },
};

type SectionName = keyof typeof sections;

export function App() {
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
