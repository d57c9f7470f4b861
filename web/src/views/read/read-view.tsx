/**
 * A text as it is read, without its field: Markdown with links, tables, tasks, highlighted code and the images of the room.
 * In a room also in the display mode, for a television or a projector.
 */
import { useSignal } from '@preact/signals';
import { type ComponentChild, h } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Button, IconButton } from '../../components/controls.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { takeFocus } from '../../components/keep-focus.ts';
import { lazy } from '../../components/lazy.tsx';
import { listen } from '../../components/listen.ts';
import { QrCode } from '../../components/qr-code.tsx';
import { showText, textViewOf } from '../../device/text-view.ts';
import { t } from '../../i18n/all-strings.ts';
import { trustedScriptUrl } from '../../page-settings.ts';
import type { RoomOfFiles, SharedFile, TextModel } from '../../room/room-phase.ts';
import { hrefOf } from '../../server-connection.ts';
import { previewOf } from '../files/file-kind.ts';
import { newestFirst } from '../files/file-links.tsx';
import { Code, linkOf } from '../room/invite-options.tsx';
import { type TextViewProps, useTextChanges } from '../room/shared-field.ts';
import type { ReadElement, ReadNode } from './markdown.ts';
import type { ReadRequest, ReadResponse } from './read-worker.ts';
import workerUrl from './read-worker.ts?worker&url';
import '../../style/read.css';

const Preview = lazy(() => import('../viewer/viewer.tsx'), 'Preview');

export function TextReader({ field, ...props }: TextViewProps) {
  const edit = () => {
    showText(props.room.code, 'edit');
    focusWhenShown(field);
  };
  const isDisplay = textViewOf(props.room.code).value === 'display';
  return isDisplay ? <Display {...props} onEdit={edit} /> : <Reading {...props} onEdit={edit} />;
}

/** The field is shown with the next rendering. */
function focusWhenShown(field: TextViewProps['field']): void {
  if (field.current?.hidden) setTimeout(focusWhenShown, 0, field);
  else field.current?.focus();
}

type ViewProps = Omit<TextViewProps, 'field'> & { onEdit: () => void };

/** As high as it is whatever others write, so that nothing below it moves. */
function Reading({ room, text, onEdit }: ViewProps) {
  return (
    <div class="reading">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too */}
      <section aria-label={t('readView')} tabIndex={0} ref={takeFocus}>
        <LiveReadView room={room} text={text} />
      </section>
      <Button label={t('edit')} onClick={onEdit} />
    </div>
  );
}

/** With more devices in the room, an invitation would only cover the text. */
const maxInvited = 3;

function Display({ room, text, onEdit }: ViewProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { files, devices } = room.content.value;
  const image = newestFirst(files).find((file) => previewOf(file) === 'image');
  const isImage = useNewest(text, image?.fileId);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // As soon as it is shown: the browser delays other effects in a tab that is not in front.
  useLayoutEffect(() => onAnyKey(onEdit), []);
  useEffect(() => keepAwake(), []);
  return (
    <dialog class="display" ref={dialog} aria-label={t('displayMode')} tabIndex={-1} onCancel={onEdit}>
      {isImage && image ? (
        <div class="display-image">
          <Preview key={image.fileId} room={room} file={image} />
        </div>
      ) : (
        <DisplayedText room={room} text={text} />
      )}
      <IconButton icon="close" label={t('edit')} onClick={onEdit} />
      <p class="aside">{t('displayHint')}</p>
      {devices.length <= maxInvited && (
        <aside>
          <QrCode text={linkOf(room)} label={t('qrLabel')} />
          <Code code={room.code} />
        </aside>
      )}
    </dialog>
  );
}

/** Short texts are larger. */
function DisplayedText({ room, text }: Omit<ViewProps, 'onEdit'>) {
  if (text.isEmpty.value) return <p class="display-empty">{t('displayEmpty')}</p>;
  const { length } = text.shared.value;
  return (
    <div class="display-text" data-size={length < 100 ? 'huge' : length < 600 ? 'large' : undefined}>
      <LiveReadView room={room} text={text} />
    </div>
  );
}

/** Whether the newest image came after the latest change of the text. At first, a text is shown if there is one. */
function useNewest({ shared }: TextModel, imageId: string | undefined): boolean {
  const isImage = useSignal(shared.value === '');
  const known = useRef(imageId);
  useEffect(() => {
    if (imageId !== undefined && imageId !== known.current) isImage.value = true;
    known.current = imageId;
  }, [imageId]);
  useEffect(() => shared.on('change', () => (isImage.value = shared.value === '')), [shared]);
  return isImage.value;
}

/** Not keys that are part of a shortcut, such as that of the browser's search. */
function onAnyKey(act: () => void): () => void {
  return listen('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || /^(Shift|Control|Alt|Meta|F\d+)/.test(key)) return;
    event.preventDefault();
    act();
  });
}

/** Browsers release the lock of a hidden page. Those without it let the screen sleep. */
function keepAwake(): () => void {
  let lock: WakeLockSentinel | undefined;
  const request = async () => {
    if (document.visibilityState !== 'visible') return;
    lock = await navigator.wakeLock?.request('screen').catch(() => undefined);
  };
  void request();
  document.addEventListener('visibilitychange', request);
  return () => {
    document.removeEventListener('visibilitychange', request);
    void lock?.release();
  };
}

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
function LiveReadView({ room, text: { shared } }: Omit<ViewProps, 'onEdit'>) {
  const value = useSignal(shared.value);
  useTextChanges(shared, 200, () => (value.value = shared.value));
  return <ReadView text={value.value} files={room.content.value.files} room={room} />;
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
