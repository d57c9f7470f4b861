/** Carets of other devices, on a layer behind the text field, and the caret of this device for the others. */
import { limitCarets } from '../../../../src/client/carets.ts';
import type { CaretMoved } from '../../../../src/protocol/types.ts';
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

/** Returns a function that removes everything. */
export function startCarets(field: HTMLTextAreaElement, room: RoomModel, text: TextModel): () => void {
  const end = new AbortController();
  const layer = new CaretLayer(field, room, text);
  const sender = new CaretSender(field, text, () => room.content.peek().devices.length > 1);
  const stops = [
    text.shared.on('change', ({ edits, origin, deviceId }) => {
      layer.onEdits(edits);
      if (origin === 'remote' && deviceId !== undefined) layer.show(deviceId, endOfEdits(edits));
      if (origin !== 'remote') sender.onTyped(endOfEdits(edits));
      else sender.onEdits(edits);
    }),
    text.shared.on('state', () => {
      // Without a connection, nobody knows where the others are.
      if (!text.shared.isOnline) layer.clear();
      sender.send();
    }),
    text.caret.subscribe((caret) => caret && layer.onCaret(caret)),
    showsCarets.subscribe((isOn) => isOn || layer.clear()),
  ];
  document.addEventListener('selectionchange', () => sender.onMoved(), { signal: end.signal });
  return () => {
    end.abort();
    for (const stop of stops) stop();
    layer.clear();
  };
}

/** Sends the caret when it was moved. Others see from an edit where it is after typing. */
class CaretSender {
  readonly #field: HTMLTextAreaElement;
  readonly #text: TextModel;
  readonly #hasOthers: () => boolean;
  /** Where the others see the caret of this device. */
  #shownAt: number | undefined;
  #isDue = false;
  readonly #limited = limitCarets((caret) => this.#text.live?.sendCaret(caret));

  constructor(field: HTMLTextAreaElement, text: TextModel, hasOthers: () => boolean) {
    this.#field = field;
    this.#text = text;
    this.#hasOthers = hasOthers;
  }

  onTyped(position: number): void {
    this.#shownAt = position;
  }

  onEdits(edits: Parameters<typeof movedPosition>[0]): void {
    if (this.#shownAt !== undefined) this.#shownAt = movedPosition(edits, this.#shownAt);
  }

  onMoved(): void {
    if (document.activeElement !== this.#field || this.#field.readOnly) return;
    if (!showsCarets.peek() || !this.#hasOthers()) return;
    this.#isDue = true;
    this.send();
  }

  /** Positions refer to a version, so it waits until the server has everything. */
  send(): void {
    const { shared } = this.#text;
    if (!this.#isDue || !shared.isOnline || shared.state !== 'synchronized') return;
    this.#isDue = false;
    const { selectionStart, selectionEnd, selectionDirection } = this.#field;
    const [start = 0, end = 0] = [selectionStart, selectionEnd].map((at) => positionInText(shared.value, at));
    if (start === end && end === this.#shownAt) return;
    this.#shownAt = start === end ? end : undefined;
    const [position, other] = selectionDirection === 'backward' ? [start, end] : [end, start];
    this.#limited({ version: shared.version, position, ...(start !== end && { selectionEnd: other }) });
  }
}

/** Exists only while it shows a caret, so that it costs nothing otherwise. */
class CaretLayer {
  readonly #field: HTMLTextAreaElement;
  readonly #room: RoomModel;
  readonly #text: TextModel;
  readonly #carets = new Map<string, Caret>();
  /** Carets in a version that has not arrived yet. */
  readonly #early = new Map<string, CaretMoved>();
  #layer: HTMLElement | undefined;
  #mirror: HTMLElement | undefined;
  #frame = 0;
  #end = new AbortController();

  constructor(field: HTMLTextAreaElement, room: RoomModel, text: TextModel) {
    this.#field = field;
    this.#room = room;
    this.#text = text;
  }

  onCaret(caret: CaretMoved): void {
    const { deviceId, version, position, selectionEnd = position } = caret;
    const { shared } = this.#text;
    this.#early.delete(deviceId);
    if (version > shared.version) this.#early.set(deviceId, caret);
    const [at, other] = [position, selectionEnd].map((from) => shared.positionAt(version, from));
    if (at !== undefined) this.show(deviceId, at, other);
  }

  onEdits(edits: Parameters<typeof movedPosition>[0]): void {
    for (const caret of this.#carets.values()) {
      caret.position = movedPosition(edits, caret.position);
      caret.selectionEnd = movedPosition(edits, caret.selectionEnd);
    }
    for (const caret of [...this.#early.values()]) if (caret.version <= this.#text.shared.version) this.onCaret(caret);
    if (this.#carets.size > 0) this.#drawSoon();
  }

  show(deviceId: string, position: number, selectionEnd = position): void {
    const device = this.#room.content.peek().devices.find((other) => other.deviceId === deviceId);
    if (!device || deviceId === this.#room.deviceId || !showsCarets.peek()) return;
    this.#hide(deviceId);
    const element = document.createElement('div');
    element.className = 'caret person';
    if (device.deviceColor !== undefined) element.style.setProperty('--color', String(device.deviceColor));
    element.append(document.createElement('i'), document.createElement('span'));
    (element.lastChild as HTMLElement).textContent = nameOf(device);
    const timer = setTimeout(() => this.#onFaded(deviceId), visibleMs);
    this.#carets.set(deviceId, { position, selectionEnd, element, timer });
    this.#drawSoon();
  }

  clear(): void {
    for (const deviceId of [...this.#carets.keys()]) this.#hide(deviceId);
    this.#early.clear();
    this.#remove();
  }

  #onFaded(deviceId: string): void {
    this.#hide(deviceId);
    if (this.#carets.size === 0) this.#remove();
  }

  #hide(deviceId: string): void {
    const caret = this.#carets.get(deviceId);
    clearTimeout(caret?.timer);
    caret?.element.remove();
    this.#carets.delete(deviceId);
  }

  #remove(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#end.abort();
    this.#layer?.remove();
    this.#layer = undefined;
    delete this.#field.dataset.carets;
  }

  #drawSoon(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw(): void {
    const field = this.#field;
    if (field.value.length > maxLength || field.offsetWidth === 0) {
      this.#remove();
      return;
    }
    const layer = this.#layer ?? this.#create();
    const mirror = this.#mirror as HTMLElement;
    fit(layer, mirror, field);
    // The last character gives an empty last line a place.
    mirror.textContent = `${field.value}\u200b`;
    const origin = layer.getBoundingClientRect();
    const { value } = this.#text.shared;
    const inField = (position: number) => Math.min(positionInField(value, position), field.value.length);
    for (const caret of this.#carets.values()) {
      if (!caret.element.isConnected) layer.append(caret.element);
      place(caret, mirror, origin, inField);
    }
  }

  #create(): HTMLElement {
    const [layer, mirror] = [document.createElement('div'), document.createElement('div')];
    layer.className = 'carets';
    layer.ariaHidden = 'true';
    layer.append(mirror);
    this.#field.before(layer);
    this.#field.dataset.carets = '';
    [this.#layer, this.#mirror] = [layer, mirror];
    this.#end = new AbortController();
    const { signal } = this.#end;
    this.#field.addEventListener('scroll', () => this.#drawSoon(), { signal });
    const observer = new ResizeObserver(() => this.#drawSoon());
    observer.observe(this.#field);
    signal.addEventListener('abort', () => observer.disconnect());
    return layer;
  }
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
function place(
  { element, position, selectionEnd }: Caret,
  mirror: HTMLElement,
  origin: DOMRect,
  inField: (at: number) => number,
): void {
  const [at, other] = [inField(position), inField(selectionEnd)];
  const character = rectsOf(mirror, at, at + 1)[0];
  if (!character) return;
  const isRtl = isRightToLeft(mirror, at);
  const left = (isRtl ? character.right : character.left) - origin.left;
  const top = character.top - origin.top;
  const [bar, name] = ['i', 'span'].map((tag) => element.querySelector(tag) as HTMLElement);
  if (bar) moveTo(bar, left, top, { height: character.height });
  if (name) {
    const line = rectsOf(mirror, at, lineEnd(mirror, at))[0] ?? character;
    const gap = isRtl ? line.left - origin.left : origin.right - line.right;
    const fromEdge = Math.max(nameGap, gap - name.offsetWidth - nameGap);
    const x = isRtl ? fromEdge : origin.width - name.offsetWidth - fromEdge;
    moveTo(name, x, top + (character.height - name.offsetHeight) / 2);
    name.toggleAttribute('data-covering', gap < name.offsetWidth + nameGap);
  }
  for (const part of element.querySelectorAll('b')) part.remove();
  if (at === other) return;
  for (const rect of rectsOf(mirror, Math.min(at, other), Math.max(at, other))) element.prepend(partOf(rect, origin));
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Each paragraph has the direction of its first letter. */
function isRightToLeft({ textContent, style }: HTMLElement, at: number): boolean {
  const shown = textContent ?? '';
  const start = shown.lastIndexOf('\n', at - 1) + 1;
  const letter = /\p{L}/u.exec(shown.slice(at === 0 ? 0 : start, start + maxLine))?.[0];
  return letter ? rightToLeft.test(letter) : style.direction === 'rtl';
}

/** A part of a selection. */
function partOf({ left, top, width, height }: DOMRect, origin: DOMRect): HTMLElement {
  const part = document.createElement('b');
  moveTo(part, left - origin.left, top - origin.top, { width, height });
  return part;
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
