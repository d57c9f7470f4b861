/** The script of the API documentation, which also works without it: its URL, copy buttons, and contents that close. */

/** The URL in the examples, unless the server has replaced it by its public URL. As a string, it would be replaced too. */
const exampleUrl = /http:\/\/localhost:8080/g;
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = texts.nextNode(); node; node = texts.nextNode()) {
  const text = node.nodeValue ?? '';
  const own = text.replace(exampleUrl, () => location.origin);
  if (own !== text) node.nodeValue = own;
}

for (const figure of document.querySelectorAll('figure.code')) {
  const code = figure.querySelector('code');
  if (code) figure.querySelector('figcaption')?.append(copyButton(code));
}

const contents = document.querySelector<HTMLDetailsElement>('nav details');
contents?.addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('a')) contents.open = false;
});

function copyButton(code: Element): HTMLButtonElement {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    button.textContent = (await copy(code)) ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  return button;
}

/** Without HTTPS there is no clipboard API. If the older command fails too, the code stays selected. */
async function copy(code: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    const isCopied = document.execCommand('copy');
    if (isCopied) getSelection()?.removeAllRanges();
    return isCopied;
  }
}

export {};
