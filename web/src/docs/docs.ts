/** The script of the API documentation, which also works without it: copy buttons, and contents that close. */
for (const figure of document.querySelectorAll('figure.code')) {
  const code = figure.querySelector('code');
  if (code) figure.querySelector('figcaption')?.append(copyButton(code));
}

const contents = document.querySelector<HTMLDetailsElement>('nav details');
contents?.addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('a')) contents.open = false;
});

function copyButton(code: Element): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    button.textContent = (await copy(code)) ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
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
