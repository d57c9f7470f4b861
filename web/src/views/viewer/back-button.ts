/** Lets the browser's Back close the viewer instead of leaving the room. */
import { useEffect, useRef } from 'preact/hooks';

/** Going back takes a moment; an entry that is added meanwhile would be removed instead. */
let isBack: Promise<unknown> = Promise.resolve();

/** Adds an entry to the browser's history while the component is mounted. */
export function useBackButton(onBack: () => void): void {
  const latest = useRef(onBack);
  latest.current = onBack;
  useEffect(() => {
    let stop: (() => void) | undefined = () => undefined;
    void isBack.then(() => {
      stop &&= addEntry(() => latest.current());
    });
    return () => {
      stop?.();
      stop = undefined;
    };
  }, []);
}

/** Returns a function that removes the entry, unless the user has gone back already. */
function addEntry(onBack: () => void): () => void {
  history.pushState({ isViewer: true }, '');
  addEventListener('popstate', onBack);
  return () => {
    removeEventListener('popstate', onBack);
    if (history.state?.isViewer) isBack = goBack();
  };
}

function goBack(): Promise<unknown> {
  return new Promise((resolve) => {
    addEventListener('popstate', resolve, { once: true });
    history.back();
  });
}
