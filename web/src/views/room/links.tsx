/** Shows the links, e-mail addresses and phone numbers in the text, with code that is loaded when something looks like one. */
import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/index.ts';

/** Links further down are not shown: searching a large text after every change would be slow. */
const maxSearched = 100_000;
/** Search at most this often. */
const searchIntervalMs = 200;

/** Without the code (offline), no links are shown. */
async function linksIn(text: string): Promise<ComponentChild> {
  if (!/\w\.\w|:\/\/|\d[\d ()./-]{5}/.test(text)) return null;
  return import('./link-list.tsx').then(
    ({ linkList }) => linkList(text),
    () => null,
  );
}

export function Links({ text }: { text: SharedText }) {
  const list = useSignal<ComponentChild>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const search = async () => {
      timer = undefined;
      list.value = await linksIn(text.value.slice(0, maxSearched));
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
  return <>{list.value}</>;
}
