/** The links in the text, to follow. The library that finds them is loaded with the first thing that looks like one. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { t } from '../../words/index.ts';

const mostShown = 20;
/** Not at every letter. */
const pauseMs = 200;

interface Link {
  url: string;
  text: string;
}

/** Where the library cannot be had, the text stands without them. */
async function linksIn(text: string): Promise<Link[]> {
  if (!/\w\.\w|:\/\//.test(text)) return [];
  return import('./find-links.ts').then(
    ({ findLinks }) => findLinks(text, mostShown),
    () => [],
  );
}

export function Links({ text }: { text: string }) {
  const links = useSignal<Link[]>([]);
  useEffect(() => {
    const timer = setTimeout(() => {
      linksIn(text).then((found) => {
        links.value = found;
      });
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text]);

  if (links.value.length === 0) return null;
  return (
    <nav class="links" aria-label={t('linksInText')}>
      {links.value.map(({ url, text }) => (
        <a key={url} href={url} target="_blank" rel="noopener noreferrer">
          <Icon name="link" />
          <span>{text}</span>
        </a>
      ))}
    </nav>
  );
}
