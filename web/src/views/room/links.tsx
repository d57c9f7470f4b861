/** The links, e-mail addresses and phone numbers in the text. The library that finds them is loaded when something looks like a link. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/index.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';
import type { FoundLink } from './find-links.ts';

const maxShown = 20;
/** Links further down are not shown: searching a large text after every change would be slow. */
const maxSearched = 100_000;
/** Search at most this often. */
const searchIntervalMs = 200;

/** Without the library (offline), no links are shown. */
async function linksIn(text: string): Promise<FoundLink[]> {
  if (!/\w\.\w|:\/\/|\d[\d ()./-]{5}/.test(text)) return [];
  return import('./find-links.ts').then(
    ({ findLinks }) => findLinks(text, maxShown),
    () => [],
  );
}

const iconOf = (url: string): IconName =>
  url.startsWith('mailto:') ? 'mail' : url.startsWith('tel:') ? 'phone' : 'link';

export function Links({ text }: { text: SharedText }) {
  const links = useSignal<FoundLink[]>([]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const search = async () => {
      timer = undefined;
      links.value = await linksIn(text.value.slice(0, maxSearched));
    };
    const searchSoon = () => {
      timer ??= setTimeout(search, searchIntervalMs);
    };
    searchSoon();
    const stop = text.on('change', searchSoon);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [text]);

  if (links.value.length === 0) return null;
  return (
    <nav class="links" aria-label={t('linksInText')}>
      {links.value.map(({ url, text }) => (
        <a key={url} href={url} target={url.startsWith('http') ? '_blank' : undefined} rel="noopener noreferrer">
          <Icon name={iconOf(url)} />
          <span dir="ltr">{text}</span>
        </a>
      ))}
    </nav>
  );
}
