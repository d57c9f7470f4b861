/** Carets of other devices, on a layer behind the text field, and the caret of this device for the others. */
import { limitCarets } from '../../../../src/client/carets.ts';
import type { CaretMoved, TextEdit } from '../../../../src/protocol/types.ts';
import { nameOf } from '../../device/identity.ts';
import { showsCarets } from '../../device/preferences.ts';
import type { RoomModel, TextModel } from '../../room/room-phase.ts';
import { endOfEdits, movedPosition, positionInField, positionInText } from './field-edits.ts';

const visibleMs = 3_000;
/** Measuring a longer text takes too long. */
const maxLength = 100_000;
/** How far the end of a line is searched, to put the name behind it. */
const maxLine = 400;
const nameGap = 6;

interface Caret {
  position: number;
  /** The other end of the selection. */
  selectionEnd: number;
  element: HTMLElement;
  timer: ReturnType<typeof setTimeout>;
}

export function startCarets(field: HTMLTextAreaElement, room: RoomModel, text: TextModel): () => void {
  const end = new AbortController();
  const layer = createLayer(field, room, text);
  const sender = createSender(field, room, text);
  const stops = [
    text.shared.on('change', ({ edits, origin, deviceId }) => {
      layer.onEdits(edits);
      if (origin === 'remote' && deviceId !== undefined) layer.show(deviceId, endOfEdits(edits));
      sender.onEdits(edits, origin === 'remote');
    }),
    text.shared.on('state', () => {
      // Without a connection, nobody knows where the others are.
      if (!text.shared.isOnline) layer.clear();
      sender.send();
    }),
    text.caret.subscribe((caret) => caret && layer.onCaret(caret)),
    showsCarets.subscribe((isOn) => isOn || layer.clear()),
  ];
  document.addEventListener('selectionchange', sender.onMoved, end);
  return () => {
    end.abort();
    for (const stop of stops) stop();
    layer.clear();
  };
}

/** Sends the caret when it was moved. Others see from an edit where it is after typing. */
function createSender(field: HTMLTextAreaElement, { content }: RoomModel, text: TextModel) {
  const { shared } = text;
  /** Where the others see the caret of this device. */
  let shownAt: number | undefined;
  let isDue = false;
  const sendLimited = limitCarets((caret) => text.live?.sendCaret(caret));

  /** Others see from an edit of this device where its caret is. */
  function onEdits(edits: readonly TextEdit[], isRemote: boolean): void {
    if (!isRemote) shownAt = endOfEdits(edits);
    else if (shownAt !== undefined) shownAt = movedPosition(edits, shownAt);
  }

  function onMoved(): void {
    if (document.activeElement !== field || field.readOnly) return;
    if (!showsCarets.peek() || content.peek().devices.length < 2) return;
    isDue = true;
    send();
  }

  /** Positions refer to a version, so it waits until the server has everything. */
  function send(): void {
    if (!isDue || !shared.isOnline || shared.state !== 'synchronized') return;
    isDue = false;
    const { selectionStart, selectionEnd, selectionDirection } = field;
    const [start = 0, end = 0] = [selectionStart, selectionEnd].map((at) => positionInText(shared.value, at));
    if (start === end && end === shownAt) return;
    shownAt = start === end ? end : undefined;
    const [position, other] = selectionDirection === 'backward' ? [start, end] : [end, start];
    sendLimited({ version: shared.version, position, ...(start !== end && { selectionEnd: other }) });
  }

  return { onEdits, onMoved, send };
}

/** In the page only while it shows a caret, so that it costs nothing otherwise. */
function createLayer(field: HTMLTextAreaElement, room: RoomModel, { shared }: TextModel) {
  const carets = new Map<string, Caret>();
  /** Carets in a version that has not arrived yet. */
  const early = new Map<string, CaretMoved>();
  const layer = Object.assign(document.createElement('div'), { className: 'carets', ariaHidden: 'true' });
  const mirror = layer.appendChild(document.createElement('div'));
  let frame = 0;
  let end = new AbortController();

  function onCaret(caret: CaretMoved): void {
    const { deviceId, version, position, selectionEnd = position } = caret;
    early.delete(deviceId);
    if (version > shared.version) early.set(deviceId, caret);
    const [at, other] = [position, selectionEnd].map((from) => shared.positionAt(version, from));
    if (at !== undefined) show(deviceId, at, other);
  }

  function onEdits(edits: readonly TextEdit[]): void {
    for (const caret of carets.values()) {
      caret.position = movedPosition(edits, caret.position);
      caret.selectionEnd = movedPosition(edits, caret.selectionEnd);
    }
    for (const caret of [...early.values()]) if (caret.version <= shared.version) onCaret(caret);
    if (carets.size > 0) drawSoon();
  }

  function show(deviceId: string, position: number, selectionEnd = position): void {
    const device = room.content.peek().devices.find((other) => other.deviceId === deviceId);
    if (!device || deviceId === room.deviceId || !showsCarets.peek()) return;
    hide(deviceId);
    const element = document.createElement('div');
    element.className = 'caret person';
    if (device.deviceColor !== undefined) element.style.setProperty('--color', String(device.deviceColor));
    element.append(document.createElement('i'), document.createElement('span'));
    (element.lastChild as HTMLElement).textContent = nameOf(device);
    carets.set(deviceId, { position, selectionEnd, element, timer: setTimeout(() => onFaded(deviceId), visibleMs) });
    drawSoon();
  }

  function clear(): void {
    for (const deviceId of [...carets.keys()]) hide(deviceId);
    early.clear();
    remove();
  }

  function onFaded(deviceId: string): void {
    hide(deviceId);
    if (carets.size === 0) remove();
  }

  function hide(deviceId: string): void {
    const caret = carets.get(deviceId);
    clearTimeout(caret?.timer);
    caret?.element.remove();
    carets.delete(deviceId);
  }

  function remove(): void {
    cancelAnimationFrame(frame);
    frame = 0;
    end.abort();
    layer.remove();
    delete field.dataset.carets;
  }

  function drawSoon(): void {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  }

  function draw(): void {
    if (field.value.length > maxLength || field.offsetWidth === 0) return void remove();
    if (!layer.isConnected) attach();
    fit(layer, mirror, field);
    // The last character gives an empty last line a place.
    mirror.textContent = `${field.value}\u200b`;
    const origin = layer.getBoundingClientRect();
    const { value } = shared;
    const inField = (position: number) => Math.min(positionInField(value, position), field.value.length);
    for (const caret of carets.values()) {
      if (!caret.element.isConnected) layer.append(caret.element);
      place(caret, mirror, origin, inField);
    }
  }

  function attach(): void {
    field.before(layer);
    field.dataset.carets = '';
    end = new AbortController();
    field.addEventListener('scroll', drawSoon, end);
    const observer = new ResizeObserver(drawSoon);
    observer.observe(field);
    end.signal.addEventListener('abort', () => observer.disconnect());
  }

  return { onCaret, onEdits, show, clear };
}

const copied = ['font', 'letterSpacing', 'lineHeight', 'padding', 'tabSize', 'textIndent', 'wordSpacing', 'direction'];

/** Puts the layer under the field, with the same text in the same place. */
function fit(layer: HTMLElement, mirror: HTMLElement, field: HTMLTextAreaElement): void {
  const { offsetLeft, offsetTop, clientLeft, clientTop, clientWidth, clientHeight, scrollTop } = field;
  const style = getComputedStyle(field);
  Object.assign(layer.style, {
    ...{ left: `${offsetLeft + clientLeft}px`, top: `${offsetTop + clientTop}px` },
    ...{ width: `${clientWidth}px`, height: `${clientHeight}px`, borderRadius: style.borderRadius },
  });
  for (const name of copied) mirror.style[name as 'font'] = style[name as 'font'];
  mirror.style.top = `${-scrollTop}px`;
}

/** Moves the caret, its selection and its name to where the text of the mirror is. */
function place(caret: Caret, mirror: HTMLElement, origin: DOMRect, inField: (at: number) => number): void {
  const { element, position, selectionEnd } = caret;
  const [at, other] = [inField(position), inField(selectionEnd)];
  const character = rectsOf(mirror, at, at + 1)[0];
  if (!character) return;
  const isRtl = isRightToLeft(mirror, at);
  const left = (isRtl ? character.right : character.left) - origin.left;
  const top = character.top - origin.top;
  const bar = element.querySelector('i') as HTMLElement;
  moveTo(bar, left, top, { height: character.height });
  const name = element.querySelector('span') as HTMLElement;
  const line = rectsOf(mirror, at, lineEnd(mirror, at))[0] ?? character;
  const gap = isRtl ? line.left - origin.left : origin.right - line.right;
  const fromEdge = Math.max(nameGap, gap - name.offsetWidth - nameGap);
  const x = isRtl ? fromEdge : origin.width - name.offsetWidth - fromEdge;
  moveTo(name, x, top + (character.height - name.offsetHeight) / 2);
  name.toggleAttribute('data-covering', gap < name.offsetWidth + nameGap);
  for (const part of element.querySelectorAll('b')) part.remove();
  if (at === other) return;
  for (const { left, top, width, height } of rectsOf(mirror, Math.min(at, other), Math.max(at, other))) {
    const part = document.createElement('b');
    moveTo(part, left - origin.left, top - origin.top, { width, height });
    element.prepend(part);
  }
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Each paragraph has the direction of its first letter. */
function isRightToLeft({ textContent, style }: HTMLElement, at: number): boolean {
  const shown = textContent ?? '';
  const start = shown.lastIndexOf('\n', at - 1) + 1;
  const letter = /\p{L}/u.exec(shown.slice(at === 0 ? 0 : start, start + maxLine))?.[0];
  return letter ? rightToLeft.test(letter) : style.direction === 'rtl';
}

function moveTo(element: HTMLElement, left: number, top: number, size: { width?: number; height?: number } = {}): void {
  for (const [name, value] of Object.entries({ left, top, ...size })) element.style.setProperty(name, `${value}px`);
}

function rectsOf(mirror: HTMLElement, from: number, to: number): DOMRect[] {
  const range = document.createRange();
  const content = mirror.firstChild as Text;
  range.setStart(content, from);
  range.setEnd(content, Math.min(to, content.length));
  return [...range.getClientRects()].slice(0, maxLine);
}

function lineEnd({ textContent }: HTMLElement, from: number): number {
  const shown = textContent ?? '';
  const next = shown.indexOf('\n', from);
  return Math.max(from + 1, Math.min(next < 0 ? shown.length : next, from + maxLine));
}
