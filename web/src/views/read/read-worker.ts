/** Parses and highlights on a thread of its own, which the page ends if it takes too long. */
import { parseMarkdown, type ReadNode } from './markdown.ts';

/** A text to parse, or code to highlight if it has a language. */
export type ReadRequest = { text: string; language?: string | undefined };
/** A message before the work starts, when the code for it is loaded, and one with the result. */
export type ReadResponse = { isStarted: true } | { nodes: ReadNode[] | undefined };

addEventListener('message', async ({ data }: MessageEvent<ReadRequest>) => {
  const work = await workFor(data);
  postMessage({ isStarted: true } satisfies ReadResponse);
  postMessage({ nodes: work() } satisfies ReadResponse);
});

async function workFor({ text, language }: ReadRequest): Promise<() => ReadNode[] | undefined> {
  if (language === undefined) return () => parseMarkdown(text);
  const { highlight } = await import('./highlight.ts');
  return () => highlight(text, language);
}
