/** The links in a text, as a list of links; see links.tsx. */
import type { ComponentChild } from 'preact';
import { MoreIcon, type MoreIconName } from '../../components/more-icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import { findLinks } from './find-links.ts';
import '../../style/links.css';

const maxShown = 20;

const iconOf = (url: string): MoreIconName =>
  url.startsWith('mailto:') ? 'mail' : url.startsWith('tel:') ? 'phone' : 'link';

export function linkList(text: string): ComponentChild {
  const links = findLinks(text, maxShown);
  if (links.length === 0) return null;
  return (
    <nav class="links" aria-label={t('linksInText')}>
      {links.map(({ url, text }) => (
        <a key={url} href={url} target={url.startsWith('http') ? '_blank' : undefined} rel="noopener noreferrer">
          <MoreIcon name={iconOf(url)} />
          <span dir="ltr">{text}</span>
        </a>
      ))}
    </nav>
  );
}
