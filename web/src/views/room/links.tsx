/** The links in the text, to follow. The library that finds them is loaded with the first thing that looks like one. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/index.ts';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';

const mostShown = 20;
/** Links further down are not shown: a large text would be searched again and again. */
const mostSearched = 100_000;
/** Not at every letter. */
const pauseMs = 200;

interface Link {
  url: string;
  text: string;
}

/** Where the library cannot be loaded, the text has no links. */
async function linksIn(text: string): Promise<Link[]> {
  if (!/\w\.\w|:\/\//.test(text)) return [];
  return import('./find-links.ts').then(
    ({ findLinks }) => findLinks(text, mostShown),
    () => [],
  );
}

export function Links({ text }: { text: SharedText }) {
  const links = useSignal<Link[]>([]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      timer = undefined;
      links.value = await linksIn(text.value.slice(0, mostSearched));
    };
    const lookSoon = () => {
      timer ??= setTimeout(look, pauseMs);
    };
    lookSoon();
    const stop = text.on('change', lookSoon);
    return () => {
      stop();
      clearTimeout(timer);
    };
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
