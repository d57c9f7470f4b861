/** Loaded into the page by `rows/page.ts`: notes moments or times of each key, in milliseconds. */
const probes = { noted: [], noteKeys, noteLengths, noteHandling };
globalThis.probes = probes;

function noteKeys() {
  addEventListener('keydown', () => probes.noted.push(Date.now()), true);
}

/** In the first frame in which the field has the letter. */
function noteLengths() {
  const field = document.querySelector('textarea');
  let length = field.value.length;
  const look = () => {
    for (; length < field.value.length; length++) probes.noted.push(Date.now());
    requestAnimationFrame(look);
  };
  look();
}

/**
 * By the browser's own account: what the listeners of a key take, and the time from the key to the next frame. The event
 * `keypress` is left out: it contains the work of the browser itself, which puts the letter into the field.
 */
function noteHandling() {
  const observer = new PerformanceObserver((list) => {
    for (const { name, duration, processingStart, processingEnd } of list.getEntries()) {
      if (name === 'keydown') probes.noted.push({ listeners: 0, frame: duration });
      const key = probes.noted.at(-1);
      if (key && ['keydown', 'beforeinput', 'input'].includes(name)) key.listeners += processingEnd - processingStart;
    }
  });
  observer.observe({ type: 'event', durationThreshold: 16 });
}
