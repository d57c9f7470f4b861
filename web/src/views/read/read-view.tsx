/** A text as it is read: Markdown with links, tables, tasks, highlighted code and the images of the room. */
import { useSignal } from '@preact/signals';
import { type ComponentChild, h } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { SharedText } from '../../../../src/client/text/shared-text.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { lazy } from '../../components/lazy.tsx';
import { t } from '../../i18n/all-strings.ts';
import { trustedScriptUrl } from '../../page-settings.ts';
import type { RoomOfFiles, SharedFile } from '../../room/room-phase.ts';
import { hrefOf } from '../../server-connection.ts';
import { previewOf } from '../files/file-kind.ts';
import { useTextChanges } from '../room/shared-field.ts';
import type { ReadElement, ReadNode } from './markdown.ts';
import type { ReadRequest, ReadResponse } from './read-worker.ts';
import workerUrl from './read-worker.ts?worker&url';
import '../../style/read.css';

const SealedMedia = lazy(() => import('../sealed-files/sealed-files.tsx'), 'SealedMedia');

/** `room` downloads the images of an encrypted room. */
type ReadViewProps = { text: string; files: readonly SharedFile[]; room: RoomOfFiles };

/** Passed down instead of a context, whose code would be part of the first view. */
type Surroundings = Omit<ReadViewProps, 'text'> & { reader: Reader };

/** Needs no editor. Shows the last text until the next one is parsed. */
export function ReadView({ text, files, room }: ReadViewProps) {
  const reader = useMemo(createReader, []);
  useEffect(() => reader.close, [reader]);
  const shown = useParsed(reader, text);
  return (
    <div class="read-text" aria-busy={shown.text !== text}>
      {shown.nodes ? renderAll(shown.nodes, { reader, files, room }) : <PlainText text={shown.text} />}
    </div>
  );
}

/** The read view of a text that changes, which is parsed at most five times a second. */
export function LiveReadView({ text, ...props }: Omit<ReadViewProps, 'text'> & { text: SharedText }) {
  const value = useSignal(text.value);
  useTextChanges(text, 200, () => (value.value = text.value));
  return <ReadView text={value.value} {...props} />;
}

/** `nodes`: undefined for a text that is shown without formatting. */
type Parsed = { text: string; nodes: ReadNode[] | undefined };

/** Or code in a language, highlighted if the language is known. */
function useParsed(reader: Reader, text: string, language?: string): Parsed {
  const parsed = useSignal<Parsed>({ text, nodes: [] });
  useEffect(() => {
    if (language === '') return;
    let isOutdated = false;
    void reader.read({ text, language }).then((nodes) => {
      if (!isOutdated && (nodes || !language)) parsed.value = { text, nodes };
    });
    return () => {
      isOutdated = true;
    };
  }, [reader, text, language]);
  return parsed.value;
}

/** The browser lays out a part when it is scrolled into view, and finds words in all of them. */
const linesPerPart = 100;

function PlainText({ text }: { text: string }) {
  const parts = useMemo(() => {
    const lines = text.split('\n');
    const starts = Array.from({ length: Math.ceil(lines.length / linesPerPart) }, (_, i) => i * linesPerPart);
    return starts.map((start) => lines.slice(start, start + linesPerPart).join('\n'));
  }, [text]);
  return (
    <>
      <p class="aside">{t('shownUnformatted')}</p>
      {parts.map((part, index) => (
        <pre class="plain-part" key={index} dir="auto">
          {part}
        </pre>
      ))}
    </>
  );
}

const renderAll = (nodes: readonly ReadNode[], around: Surroundings): ComponentChild[] =>
  nodes.map((node, index) => render(node, index, around));

function render(node: ReadNode, key: number, around: Surroundings): ComponentChild {
  if (typeof node === 'string') return node;
  const { name, children } = node;
  const [content = ''] = children as string[];
  if (name === 'codeblock')
    return <CodeBlock key={key} code={content} language={node.language ?? ''} around={around} />;
  if (name === 'img') return <RoomImage key={key} source={node.source ?? ''} alt={content} around={around} />;
  const shown = renderAll(children, around);
  if (name === 'table') return <Table key={key}>{shown}</Table>;
  if (node.isDone !== undefined) return <Task key={key} isDone={node.isDone} shown={shown} />;
  const level = /^h(\d)$/.exec(name)?.[1];
  // The page has headings of the first two levels.
  if (level) return h(`h${Math.min(6, Number(level) + 2)}`, { key, dir: 'auto', class: `level-${level}` }, shown);
  return h(name, { key, ...propsOf(node) }, shown);
}

const blocks = /^(p|ul|ol|blockquote|td|th)$/;

/** Nothing else of a node becomes a property of an element. */
function propsOf({ name, href, start, align, isTight, class: className }: ReadElement) {
  return {
    ...(blocks.test(name) && { dir: 'auto' }),
    ...(href !== undefined && { href, title: href, rel: 'noopener noreferrer', target: targetOf(href) }),
    ...(start !== undefined && { start }),
    ...(align !== undefined && { 'data-align': align }),
    ...(isTight && { class: 'tight' }),
    ...(className !== undefined && { class: className }),
  };
}

const targetOf = (href: string) => (href.startsWith('http') ? '_blank' : undefined);

/** A wide table scrolls, and must do so by keyboard too. */
function Table({ children }: { children: ComponentChild[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div class="read-table" dir="auto" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

function Task({ isDone, shown }: { isDone: boolean; shown: ComponentChild[] }) {
  const [words, ...rest] = shown;
  return (
    <li class="task" dir="auto">
      <label>
        <input type="checkbox" checked={isDone} disabled />
        {words}
      </label>
      {rest}
    </li>
  );
}

function CodeBlock({ code, language, around }: { code: string; language: string; around: Surroundings }) {
  const { text, nodes } = useParsed(around.reader, code, language);
  const shown = text === code && nodes?.length ? nodes : [code];
  return (
    <div class="code-block" dir="ltr">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too */}
      <pre tabIndex={0}>
        <code>{renderAll(shown, around)}</code>
      </pre>
      <CopyButton text={code.replace(/\n$/, '')} label={t('copyCodeBlock')} compact />
    </div>
  );
}

/** Only a file of the room is loaded. Another image would tell a stranger who reads the text. */
function RoomImage({ source, alt, around }: { source: string; alt: string; around: Surroundings }) {
  const { files, room } = around;
  const file = files.find((file) => isNamed(file, source) && previewOf(file) === 'image');
  if (!file) return <span class="missing-image">{alt || source}</span>;
  const show = (url: string) => <img src={url} alt={alt || file.fileName} loading="lazy" decoding="async" />;
  if (file.meta === undefined) return show(hrefOf(file));
  return <SealedMedia key={file.fileId} room={room} file={file} show={show} />;
}

const isNamed = ({ fileName, folder, fileUrl }: SharedFile, source: string): boolean =>
  source === fileName || source === fileUrl || (folder !== undefined && source === `${folder}/${fileName}`);

/** A text that takes longer to parse, or is longer, is shown without formatting. */
const maxWorkMs = 5_000;
const maxLength = 200_000;

type Reader = ReturnType<typeof createReader>;

function createReader() {
  let worker: Worker | undefined;
  let isClosed = false;
  let last: Promise<ReadNode[] | undefined> = Promise.resolve(undefined);

  function stop(): void {
    worker?.terminate();
    worker = undefined;
  }

  async function ask(request: ReadRequest): Promise<ReadNode[] | undefined> {
    if (isClosed) return undefined;
    try {
      worker ??= new Worker(trustedScriptUrl(workerUrl), { type: 'module' });
      return await answer(worker, request);
    } catch {
      stop();
      return undefined;
    }
  }

  return {
    /** Undefined if it takes too long, the text is too complex, or the worker cannot be loaded. */
    async read(request: ReadRequest) {
      if (request.text.length > maxLength) return undefined;
      last = last.then(() => ask(request));
      return last;
    },
    close(): void {
      isClosed = true;
      stop();
    },
  };
}

/** Loading the worker does not count as work. */
function answer(worker: Worker, request: ReadRequest): Promise<ReadNode[] | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadNode[] | undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  worker.onmessage = ({ data }: MessageEvent<ReadResponse>) => {
    if ('isStarted' in data) timer = setTimeout(reject, maxWorkMs);
    else resolve(data.nodes);
  };
  worker.onerror = reject;
  worker.postMessage(request);
  return promise.finally(() => clearTimeout(timer));
}
