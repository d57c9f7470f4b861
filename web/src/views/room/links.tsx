/** The links in the text, to follow. The library that finds them is loaded with the first thing that looks like one. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { t } from '../../words/index.ts';

const mostShown = 20;
/** Not at every letter. */
const pauseMs = 200;

export function Links({ text }: { text: string }) {
  const links = useSignal<{ url: string; text: string }[]>([]);
  useEffect(() => {
    const timer = setTimeout(async () => {
      links.value = /\w\.\w|:\/\//.test(text) ? (await import('./find-links.ts')).findLinks(text, mostShown) : [];
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
