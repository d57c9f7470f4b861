/** Parses and highlights on a thread of its own, which the page ends if it takes too long. */
import { parseMarkdown, type ReadNode } from './markdown.ts';

export type ReadRequest = { text: string } | { code: string; language: string };
/** A message before the work starts, when the code for it is loaded, and one with the result. */
export type ReadResponse = { isStarted: true } | { nodes: ReadNode[] | undefined };

/** The part of a worker's global scope that is used here. */
interface Worker {
  onmessage: ((event: MessageEvent<ReadRequest>) => void) | null;
  postMessage(message: ReadResponse): void;
}

const worker = self as unknown as Worker;

worker.onmessage = async ({ data }) => {
  const work = await workFor(data);
  worker.postMessage({ isStarted: true });
  worker.postMessage({ nodes: work() });
};

async function workFor(request: ReadRequest): Promise<() => ReadNode[] | undefined> {
  if ('text' in request) return () => parseMarkdown(request.text);
  const { highlight } = await import('./highlight.ts');
  return () => highlight(request.code, request.language);
}
