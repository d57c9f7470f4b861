/** Loaded into the page by `rows/page.ts`, `rows/first-view.ts` and `rows/encryption.ts`: records times, in milliseconds. */
const probes = {
  recorded: [],
  recordKeys,
  recordLengths,
  recordHandling,
  recordPauses,
  isCached,
  paste,
  firstView: observeFirstView(),
};
globalThis.probes = probes;

function recordKeys() {
  addEventListener('keydown', () => probes.recorded.push(Date.now()), true);
}

/** Records the first frame in which the field has the letter. */
function recordLengths() {
  const field = document.querySelector('textarea');
  let length = field.value.length;
  const check = () => {
    for (; length < field.value.length; length++) probes.recorded.push(Date.now());
    requestAnimationFrame(check);
  };
  check();
}

/**
 * Records, with the Event Timing API, the time in the listeners of a key, and the time from the key to the next frame.
 * Excludes `keypress`, which contains the browser's own work of inserting the letter.
 */
function recordHandling() {
  const observer = new PerformanceObserver((list) => {
    for (const { name, duration, processingStart, processingEnd } of list.getEntries()) {
      if (name === 'keydown') probes.recorded.push({ listeners: 0, frame: duration });
      const key = probes.recorded.at(-1);
      if (key && ['keydown', 'beforeinput', 'input'].includes(name)) key.listeners += processingEnd - processingStart;
    }
  });
  observer.observe({ type: 'event', durationThreshold: 16 });
}

/** Records how long the page does not run other tasks, between one timer and the next. */
function recordPauses() {
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    probes.recorded.push(now - last);
    last = now;
  }, 4);
}

/** Resolves when the service worker has cached the page. */
async function isCached() {
  await navigator.serviceWorker.ready;
}

/** Pastes the link of a room into the home page, which joins the room. */
function paste(link) {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text', link);
  const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
  document.querySelector('input[name="code"]').dispatchEvent(event);
}

/** Observes from the start the largest paint, when the text can be edited, and by how much the layout has shifted. */
function observeFirstView() {
  const view = { largestPaint: 0, editable: 0, shift: 0 };
  const observe = (type, onEntry) =>
    new PerformanceObserver((list) => list.getEntries().forEach(onEntry)).observe({ type, buffered: true });
  observe('largest-contentful-paint', ({ startTime }) => {
    view.largestPaint = startTime;
  });
  observe('layout-shift', ({ value }) => {
    view.shift += value;
  });
  new MutationObserver((_, observer) => {
    if (!document.querySelector('textarea')) return;
    view.editable = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
  return view;
}
