/** The text of a room. */

import type { IncomingMessage } from 'node:http';
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
import { largestContentBody, withJson } from '../request/json-body.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { isTextBody, withText } from '../request/text-body.ts';
import { isNamedBy, parseIfMatch, versionTag } from '../request/versions.ts';
import { json, jsonText, type Reply } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';

export const writeContent = ({ rooms, largestContent }: Service): Handler => {
  const bodyRules = contentRules(rooms, largestContent);
  const textRules = { ...bodyRules, maxBytes: longestSealed(largestContent) };
  return (request) => {
    const ifVersions = parseIfMatch(header(request.raw, 'if-match'));
    const write = async ({ content, pin }: WriteContentRequest) => {
      const written = await rooms.writeContent(callerOf(request, pin), content, ifVersions);
      const body = `{"success":true,${textBody({ content, ...written }).slice(1)}`;
      return jsonText(200, body, { ETag: versionTag(written.version) });
    };
    if (isTextBody(request.raw)) return withText(request, textRules, (content) => write({ content }));
    return withJson<WriteContentRequest, Reply>(request, writeContentRequest, bodyRules, write);
  };
};

/** Checks the room before the server reads a large body. */
const contentRules = (rooms: Rooms, largestContent: number): BodyRules => ({
  maxBytes: largestContentBody(largestContent),
  beforeLarge: (request) => rooms.checkCaller(callerOf(request)),
});

export const editContent = ({ rooms, largestContent }: Service): Handler => {
  const bodyRules = contentRules(rooms, largestContent);
  return (request) => {
    const ifVersions = parseIfMatch(header(request.raw, 'if-match'));
    return withJson<EditContentRequest, Reply>(request, editContentRequest, bodyRules, async ({ pin, ...body }) => {
      return edited(await rooms.editContent(callerOf(request, pin), { ...editOf(body), ifVersions }));
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

function edited({ version, writtenAt, compact }: WrittenText): Reply {
  const hint = compact && { compact };
  const body = { success: true, version, timestamp: toTimestamp(writtenAt), ...hint } satisfies ContentEdited;
  return json(200, body, { ETag: versionTag(version) });
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
      if (length <= maxCachedLength) return textReply(text, request);
      // Read again when its turn comes: waiting texts would fill the memory.
      return request.turns.run(request.client, length * readShare, async () =>
        textReply(await rooms.readContent(callerOf(request)), request),
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
  const headers = { ETag: versionTag(text.version), Vary: 'Accept' };
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
