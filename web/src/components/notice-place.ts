/** Where messages are on the screen. Loaded on demand. */

const stepPx = 8;

/** Moves the messages up from the bottom of the screen until they cover nothing that one can press. */
export function avoidControls(box: HTMLElement): void {
  box.style.translate = '';
  const messages = [...box.children].map((message) => message.getBoundingClientRect());
  const controls = [...document.querySelectorAll('a, button, input, select, summary')]
    .filter((control) => !box.contains(control))
    .map((control) => control.getBoundingClientRect());
  const covers = (lift: number) =>
    messages.some((message) =>
      controls.some(
        ({ left, right, top, bottom }) =>
          left < message.right && right > message.left && top < message.bottom - lift && bottom > message.top - lift,
      ),
    );
  for (let lift = 0; lift < (messages[0]?.top ?? 0); lift += stepPx) {
    if (covers(lift)) continue;
    box.style.translate = `0 ${-lift}px`;
    return;
  }
}
