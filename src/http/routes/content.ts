/** The text of a room. */

import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../core/admission.ts';
import { PoproomError } from '../../core/errors.ts';
import { chain } from '../../core/maybe-promise.ts';
import type { Content } from '../../core/ports.ts';
import type { ContentEdit, Rooms } from '../../core/rooms.ts';
import { longestSealed } from '../../core/sealed.ts';
import type { WrittenText } from '../../core/text/edit-decision.ts';
import type { SealedContent } from '../../core/text/sealed-text.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { compactContentRequest, editContentRequest, writeContentRequest } from '../../protocol/schemas.ts';
import type {
  CompactContentRequest,
  ContentEdited,
  ContentRead,
  EditContentRequest,
  WriteContentRequest,
} from '../../protocol/types.ts';
import type { BodyRules } from '../request/body.ts';
import { refuseForeignForm } from '../request/cross-site.ts';
import { largestContentBody, withJson } from '../request/json-body.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { isTextBody, withText } from '../request/text-body.ts';
import { isNamedBy, parseIfMatch, versionTag } from '../request/versions.ts';
import { compress, isCompressible } from '../response/compression.ts';
import { json, jsonText, type Reply } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';
import { fingerprintOf, runOnce } from './idempotent.ts';

export const writeContent = (service: Service): Handler => {
  const { rooms, largestContent } = service;
  const bodyRules = contentRules(rooms, largestContent);
  const textRules = { ...bodyRules, maxBytes: longestSealed(largestContent) };
  return (request) => {
    const ifVersions = parseIfMatch(header(request.raw, 'if-match'));
    const write = async ({ content, pin }: WriteContentRequest) => {
      const caller = callerOf(request, pin);
      const { result: written, headers } = await runOnce(service, request, 'writeContent', {
        perform: () => rooms.writeContent(caller, content, ifVersions),
        ...comparing(rooms, caller, () => fingerprintOf(header(request.raw, 'if-match'), content)),
      });
      const body = `{"success":true,${textBody({ content, ...written }).slice(1)}`;
      return jsonText(200, body, { ETag: versionTag(written.version), ...headers });
    };
    if (isTextBody(request.raw)) {
      refuseForeignForm(request.raw, request.isCrossSite);
      return withText(request, textRules, (content) => write({ content }));
    }
    return withJson<WriteContentRequest, Reply>(request, writeContentRequest, bodyRules, write);
  };
};

/** A repetition needs the PIN too, even if it changes nothing. */
const comparing = (rooms: Rooms, caller: Caller, fingerprint: () => string) => ({
  fingerprint,
  async compare() {
    await rooms.info(caller);
    return fingerprint();
  },
});

/** Checks the room before the server reads a large body. */
const contentRules = (rooms: Rooms, largestContent: number): BodyRules => ({
  maxBytes: largestContentBody(largestContent),
  beforeLarge: (request) => rooms.checkCaller(callerOf(request)),
});

export const editContent = (service: Service): Handler => {
  const { rooms, largestContent } = service;
  const bodyRules = contentRules(rooms, largestContent);
  return (request) => {
    const ifVersions = parseIfMatch(header(request.raw, 'if-match'));
    return withJson<EditContentRequest, Reply>(request, editContentRequest, bodyRules, async ({ pin, ...body }) => {
      const caller = callerOf(request, pin);
      const edit = { ...editOf(body), ifVersions };
      const { result, headers } = await runOnce(service, request, 'editContent', {
        perform: () => rooms.editContent(caller, edit),
        ...comparing(rooms, caller, () => fingerprintOf(JSON.stringify(edit))),
      });
      return edited(result, headers);
    });
  };
};

/** Stores a snapshot of the text of an encrypted room. */
export const compactContent = ({ rooms, largestContent }: Service): Handler => {
  const bodyRules = contentRules(rooms, largestContent);
  return (request) =>
    withJson<CompactContentRequest, Reply>(request, compactContentRequest, bodyRules, async (snapshot) =>
      edited(await rooms.compactContent(callerOf(request), snapshot)),
    );
};

function edited({ version, writtenAt, compact }: WrittenText, headers: Record<string, string> = {}): Reply {
  const hint = compact && { compact };
  const body = { success: true, version, timestamp: toTimestamp(writtenAt), ...hint } satisfies ContentEdited;
  return json(200, body, { ETag: versionTag(version), ...headers });
}

/** A request has either `edits`, `append` or `sealed`. */
function editOf({ edits, append, sealed, baseVersion }: Omit<EditContentRequest, 'pin'>): ContentEdit {
  if (sealed !== undefined && edits === undefined && append === undefined) return { sealed, baseVersion };
  if (sealed !== undefined || (edits === undefined) === (append === undefined)) {
    throw new PoproomError('VALIDATION_FAILED', 'Send either "edits" or "append".', { details: { field: 'edits' } });
  }
  if (append === undefined) return { edits: edits ?? [], baseVersion };
  if (baseVersion === undefined) return { append };
  throw new PoproomError('VALIDATION_FAILED', '"baseVersion" can be used only with "edits".', {
    details: { field: 'baseVersion' },
  });
}

export const readContent =
  ({ rooms }: Service): Handler =>
  (request) =>
    chain(rooms.readContent(callerOf(request)), (text) => {
      const length = lengthOf(text);
      if (!isCompressible(length)) return textReply(text, request);
      if (length <= maxCachedLength) return compress(request.raw, textReply(text, request));
      // Read again when its turn comes: waiting texts would fill the memory.
      return request.turns.run(request.client, length * readShare, async () =>
        compress(request.raw, textReply(await rooms.readContent(callerOf(request)), request)),
      );
    });

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
  if ('sealedEdits' in text) return json(200, sealedBody(text), headers);
  if (!wantsText(raw)) return jsonText(200, cachedBody(text), headers);
  const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status: 200, headers: { ...plain, ...headers }, body: text.content };
}

/** Always JSON: the full text alone may not be the current text. */
function sealedBody({ content, version, writtenAt, contentVersion, sealedEdits }: SealedContent): ContentRead {
  return { content, version, timestamp: toTimestamp(writtenAt), contentVersion, sealedEdits };
}

/** Only if it is the one type that the client accepts: libraries name it beside JSON, and expect JSON. */
const wantsText = ({ headers }: IncomingMessage) => /^\s*text\/plain\s*(;[^,]*)?$/i.test(headers.accept ?? '');

const cachedJson = Symbol('cached JSON');
const maxCachedLength = 4096;

/** Stores return the same cached object repeatedly, so its JSON is cached on it. */
function cachedBody(text: Content & { [cachedJson]?: string }): string {
  const known = text[cachedJson];
  if (known !== undefined) return known;
  const made = textBody(text);
  if (made.length <= maxCachedLength) text[cachedJson] = made;
  return made;
}

/** Concatenated by hand: this is the most frequent response, and serializing an object would cost twice as much. */
const textBody = ({ content, version, writtenAt }: Content) =>
  `{"content":${JSON.stringify(content)},"version":${version},"timestamp":"${toTimestamp(writtenAt)}"}`;
