/** Recognizes a long press by touch, which mouse and keyboard do not need. */

const longPressMs = 450;
/** A finger that moves farther than this scrolls. In pixels. */
const maxMove = 10;

/** Calls `onPress` with the element under the finger. Returns a function that stops listening. */
export function listenForLongPress(area: HTMLElement, onPress: (target: Element) => void): () => void {
  const end = new AbortController();
  let timer: number | undefined;
  let [x, y] = [0, 0];
  const cancel = () => clearTimeout(timer);
  const on = <K extends keyof HTMLElementEventMap>(type: K, listen: (event: HTMLElementEventMap[K]) => void) =>
    area.addEventListener(type, listen, { signal: end.signal });

  on('pointerdown', ({ pointerType, isPrimary, target, clientX, clientY }) => {
    cancel();
    if (pointerType !== 'touch' || !isPrimary) return;
    [x, y] = [clientX, clientY];
    timer = window.setTimeout(() => {
      ignoreNextClick();
      onPress(target as Element);
    }, longPressMs);
  });
  on('pointermove', ({ clientX, clientY }) => {
    if (Math.hypot(clientX - x, clientY - y) > maxMove) cancel();
  });
  on('pointerup', cancel);
  on('pointercancel', cancel);
  // The browser's own menu for links would cover the selection.
  on('contextmenu', (event) => {
    if ((event as PointerEvent).pointerType === 'touch') event.preventDefault();
  });
  end.signal.addEventListener('abort', cancel);
  return () => end.abort();
}

/** Lifting the finger may click what is under it by then. */
function ignoreNextClick(): void {
  const end = new AbortController();
  const options = { capture: true, signal: end.signal };
  const ignore = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
    end.abort();
  };
  document.addEventListener('click', ignore, options);
  document.addEventListener('pointerdown', () => end.abort(), options);
}
