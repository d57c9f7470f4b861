/** The text of a room, and its earlier texts. */
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { chain } from '../../core/concurrency.ts';
import { isLarge } from '../../core/defence/work.ts';
import { invalidField } from '../../core/errors.ts';
import type { MaybePromise } from '../../core/ports/basics.ts';
import type { CheckpointInfo, Content } from '../../core/ports/texts.ts';
import type { ContentEdit } from '../../core/rooms.ts';
import { longestSealed } from '../../core/sealed.ts';
import type { WrittenText } from '../../core/text/edit-decision.ts';
import type { SealedContent } from '../../core/text/sealed-texts.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { compactContentRequest, editContentRequest, writeContentRequest } from '../../protocol/schemas.ts';
import type * as api from '../../protocol/types.ts';
import { refuseForeignForm } from '../request/authorize.ts';
import type { BodyRules } from '../request/body.ts';
import { isTextBody, largestContentBody, withJson, withText } from '../request/parse-body.ts';
import { callerOf, header, limitIn, type Request } from '../request/request.ts';
import {
  compress,
  isCompressible,
  isNamedBy,
  json,
  jsonText,
  parseIfMatch,
  type Reply,
  variesByEncoding,
  versionTag,
} from '../response/reply.ts';
import { confirmed, fingerprintOf, type HandlerDeps, type Handlers, keyedRun, replayHeaders } from './handler.ts';

export const contentHandlers = (deps: HandlerDeps) => {
  const { rooms, largestContent } = deps;
  /** Checks the room before the server reads a large body. */
  const bodyRules: BodyRules = {
    maxBytes: largestContentBody(largestContent),
    beforeLarge: (request) => rooms.checkCaller(callerOf(request), 'writeText'),
  };
  const textRules = { ...bodyRules, maxBytes: longestSealed(largestContent) };
  const appendRules = { ...bodyRules, maxBytes: largestContent };

  return {
    writeContent(request) {
      const ifMatch = header(request.raw, 'if-match');
      const ifVersions = parseIfMatch(ifMatch);
      const write = async ({ content, pin }: api.WriteContentRequest) => {
        const run = keyedRun<WrittenText>(deps, request, 'writeContent', () => fingerprintOf(ifMatch, content));
        const written = await rooms.writeContent(callerOf(request, pin), content, ifVersions, run);
        const { version, writtenAt } = written;
        const response: api.ContentWritten = { success: true, content, version, timestamp: toTimestamp(writtenAt) };
        const toJson = () => JSON.stringify(response);
        const isLong = isLarge(content.length);
        if (isLong) await nextTurn();
        const body = isLong ? request.turns.budget.measure(request.client, toJson) : toJson();
        if (isLong) await nextTurn();
        return jsonText(200, body, { ETag: versionTag(version), ...replayHeaders(run) });
      };
      if (isText(request)) return withText(request, textRules, (content) => write({ content }));
      return withJson<api.WriteContentRequest, Reply>(request, writeContentRequest, bodyRules, write);
    },

    editContent(request) {
      const ifVersions = parseIfMatch(header(request.raw, 'if-match'));
      const store = async ({ pin, ...body }: api.EditContentRequest) => {
        const edit = { ...editOf(body), ifVersions };
        const run = keyedRun<WrittenText>(deps, request, 'editContent', () => fingerprintOf(JSON.stringify(edit)));
        const written = await rooms.editContent(callerOf(request, pin), edit, run);
        return edited(written, replayHeaders(run));
      };
      if (isText(request)) return withText(request, appendRules, (append) => store({ append }));
      return withJson<api.EditContentRequest, Reply>(request, editContentRequest, bodyRules, store);
    },

    /** Stores a snapshot of the text of an encrypted room. */
    compactContent: (request) =>
      withJson<api.CompactContentRequest, Reply>(request, compactContentRequest, bodyRules, async (snapshot) =>
        edited(await rooms.compactContent(callerOf(request), snapshot)),
      ),

    readContent(request) {
      const waitMs = waitIn(request);
      return waitMs > 0 ? readChanged(deps, request, waitMs) : read(deps, request);
    },

    async listHistory(request) {
      const limit = limitIn(request);
      const history = (await rooms.listHistory(callerOf(request))).slice(0, limit).map(entryOf);
      return compress(request.raw, json(200, { history } satisfies api.HistoryList, variesByEncoding));
    },

    async readHistory(request) {
      const checkpoint = await rooms.readHistory(callerOf(request), versionIn(request.params.version));
      const text = { content: checkpoint.content, ...entryOf(checkpoint) } satisfies api.HistoryText;
      return compress(request.raw, json(200, text, variesByEncoding));
    },

    clearHistory: confirmed('The history was deleted.', rooms.clearHistory),
  } satisfies Partial<Handlers>;
};

/** Whether the body is a text and not JSON. Throws if a form of another site sent it. */
function isText({ raw, isCrossSite }: Request): boolean {
  if (!isTextBody(raw)) return false;
  refuseForeignForm(raw, isCrossSite);
  return true;
}

function edited({ version, writtenAt, compact }: WrittenText, headers: Record<string, string> = {}): Reply {
  const hint = compact && { compact };
  const body = { success: true, version, timestamp: toTimestamp(writtenAt), ...hint } satisfies api.ContentEdited;
  return json(200, body, { ETag: versionTag(version), ...headers });
}

/** A request has either `edits`, `append` or `sealed`. */
function editOf({ edits, append, sealed, baseVersion }: Omit<api.EditContentRequest, 'pin'>): ContentEdit {
  if (sealed !== undefined && edits === undefined && append === undefined) return { sealed, baseVersion };
  if (sealed !== undefined || (edits === undefined) === (append === undefined)) {
    throw invalidField('edits', 'Send either "edits" or "append".');
  }
  if (append === undefined) return { edits: edits ?? [], baseVersion };
  if (baseVersion === undefined) return { append };
  throw invalidField('baseVersion', '"baseVersion" can be used only with "edits".');
}

function read(deps: HandlerDeps, request: Request): MaybePromise<Reply> {
  return chain(deps.rooms.readContent(callerOf(request)), (text) => {
    const length = lengthOf(text);
    if (!isCompressible(length)) return textReply(text, request);
    if (length <= maxCachedLength) return compress(request.raw, textReply(text, request));
    return readLong(deps, request, length);
  });
}

const longestWait = 60;

function waitIn({ query }: Request): number {
  const text = query.get('wait') ?? '0';
  if (/^\d{1,2}$/.test(text) && Number(text) <= longestWait) return Number(text) * 1000;
  throw invalidField('wait', `"wait" must be a whole number of seconds, at most ${longestWait}.`);
}

/**
 * Waits for a version that the client does not have. The first read admits the client. The second one checks again
 * that it has access, and finds out whether the room has ended.
 */
async function readChanged(deps: HandlerDeps, request: Request, waitMs: number): Promise<Reply> {
  const { raw, response, client } = request;
  const caller = callerOf(request);
  const isKnown = (version: number) => isNamedBy(raw.headers['if-none-match'], versionTag(version));
  const { version } = await deps.rooms.readContent(caller);
  if (!isKnown(version)) return read(deps, request);
  const { code, link } = await deps.rooms.access(caller, 'readText');
  const waiting = new AbortController();
  const stop = () => waiting.abort();
  const timer = setTimeout(stop, waitMs);
  response.once('close', stop);
  if (response.destroyed) stop();
  const startedAt = performance.now();
  try {
    await deps.live.waitForText(client, { code, link, isKnown, signal: waiting.signal });
  } finally {
    clearTimeout(timer);
    response.off('close', stop);
  }
  const waitedMs = performance.now() - startedAt;
  return { ...(await read(deps, request)), waitedMs };
}

/** Reads the text again when its turn comes: waiting texts would fill the memory. */
async function readLong({ rooms }: HandlerDeps, request: Request, length: number): Promise<Reply> {
  const { raw, client, turns } = request;
  await turns.budget.admit(client);
  return turns.run(client, length * readShare, async () => {
    const text = await rooms.readContent(callerOf(request));
    if (isLarge(length)) await nextTurn();
    const reply = turns.budget.measure(client, () => textReply(text, request));
    const compressed = await compress(raw, reply);
    if (compressed !== reply) turns.budget.charge(client, length / compressedPerMs);
    return compressed;
  });
}

/** Characters, by threads outside of the event loop. */
const compressedPerMs = 50_000;

/** Turns are sized for writes. A read takes about a quarter of the time. */
const readShare = 1 / 4;

function lengthOf(text: Content | SealedContent): number {
  const { length } = text.content;
  if (!('sealedEdits' in text)) return length;
  return text.sealedEdits.reduce((sum, { sealed }) => sum + sealed.length, length);
}

function textReply(text: Content | SealedContent, { raw }: Request): Reply {
  // Both forms have the same tag, because it names the version of the text.
  const headers = { ETag: versionTag(text.version), Vary: 'Accept, Accept-Encoding' };
  if (isNamedBy(raw.headers['if-none-match'], headers.ETag)) {
    return { status: 304, headers: { ...headers, 'Cache-Control': 'no-store' } };
  }
  // The full text of an encrypted room alone may not be the current text.
  if ('sealedEdits' in text || !wantsText(raw)) return jsonText(200, cachedJson(text), headers);
  const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status: 200, headers: { ...plain, ...headers }, body: text.content };
}

/** Only if it is the one type that the client accepts: libraries name it beside JSON, and expect JSON. */
const wantsText = ({ headers }: IncomingMessage) => /^\s*text\/plain\s*(;[^,]*)?$/i.test(headers.accept ?? '');

const maxCachedLength = 4096;
const jsonOfTexts = new WeakMap<Content | SealedContent, string>();

/** Stores return the same cached object repeatedly. Serializing 900 bytes takes 1.2 µs, 5 % of the CPU time of a read. */
function cachedJson(text: Content | SealedContent): string {
  const known = jsonOfTexts.get(text);
  if (known !== undefined) return known;
  const sealed = 'sealedEdits' in text && { contentVersion: text.contentVersion, sealedEdits: text.sealedEdits };
  const made = JSON.stringify({ ...textOf(text), ...sealed });
  if (made.length <= maxCachedLength) jsonOfTexts.set(text, made);
  return made;
}

const textOf = ({ content, version, writtenAt }: Content): api.ContentRead => ({
  content,
  version,
  timestamp: toTimestamp(writtenAt),
});

function entryOf({ version, writtenAt, size, deviceId }: CheckpointInfo): api.HistoryEntry {
  return { version, timestamp: toTimestamp(writtenAt), size, ...(deviceId !== undefined && { deviceId }) };
}

/** Invalid text becomes -1, which no history contains. */
const versionIn = (text = ''): number => (/^\d{1,15}$/.test(text) ? Number(text) : -1);
