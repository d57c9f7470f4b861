/** The links in a text, as a list of links, with code that is loaded when something in it looks like one. */
import type { ComponentChild } from 'preact';
import { MoreIcon, type MoreIconName } from '../../components/more-icon.tsx';
import { t } from '../../i18n/all-strings.ts';
import '../../style/links.css';
import { linkifyit } from 'linkify-it';

const maxShown = 20;

const iconOf = (url: string): MoreIconName =>
  url.startsWith('mailto:') ? 'mail' : url.startsWith('tel:') ? 'phone' : 'link';

export function linkList(text: string): ComponentChild {
  const links = findLinks(text);
  if (links.size === 0) return null;
  const targetOf = (url: string) => (url.startsWith('http') ? '_blank' : undefined);
  return (
    <nav class="links" aria-label={t('linksInText')}>
      {Array.from(links, ([url, text]) => (
        <a key={url} href={url} title={url} target={targetOf(url)} rel="noopener noreferrer">
          <MoreIcon name={iconOf(url)} />
          <span dir="ltr">{text}</span>
        </a>
      ))}
    </nav>
  );
}

const linkify = linkifyit({ fuzzyLink: true });
const maxSearched = 100_000;

type Match = { index: number; url: string; text: string };

/** The text of each URL, in the order of the text. */
function findLinks(text: string): Map<string, string> {
  const searched = text.slice(0, maxSearched);
  const found = new Map<string, string>();
  const matches = [...addressesIn(searched), ...phonesIn(searched)].sort((one, other) => one.index - other.index);
  for (const { url, text } of matches) if (found.size < maxShown) found.set(url, text);
  return found;
}

/**
 * Only http, https and e-mail, so that nobody in a room can make others run code with a click. The text of a web link is
 * the URL as the browser parses it, which exposes lookalike domains.
 */
function* addressesIn(text: string): Generator<Match> {
  for (const { url, index, lastIndex } of linkify.match(text) ?? []) {
    // A link that reaches the end of the searched part may be incomplete.
    if (lastIndex >= maxSearched) return;
    const link = /^https?:\/\//i.test(url) ? URL.parse(url) : null;
    // Without a subject or a body, which a stranger could have written.
    const email = /^mailto:([^\s?&%]+@[^\s?&%]+)$/i.exec(url)?.[1];
    if (link) yield { index, url: link.href, text: displayText(link) };
    else if (email) yield { index, url: `mailto:${email}`, text: email };
  }
}

const displayText = ({ host, pathname, search }: URL): string => host + (pathname === '/' ? '' : pathname) + search;

const numbers = /(?<![\w.:/@#&=-])(\+|\()?\d[\d ()./-]{5,20}\d(?![\w-])/g;
const northAmerican = /^\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}$/;
const date = /^\d{1,4}[./-]\d{1,2}[./-]\d{2,4}/;

/** Numbers that look like a phone number: international, with a leading zero and separators, or North American. */
function* phonesIn(text: string): Generator<Match> {
  for (const { 0: number, index } of text.matchAll(numbers)) {
    const digits = number.replace(/\D/g, '');
    const isNational = /^\(?0\d.*[ ()/-]/.test(number) && !date.test(number);
    const isPhone = number.startsWith('+') || isNational || northAmerican.test(number);
    if (!isPhone || digits.length < 7 || digits.length > 15) continue;
    yield { index, url: `tel:${number.startsWith('+') ? '+' : ''}${digits}`, text: number };
  }
}
