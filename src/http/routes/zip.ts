/** All files of a room as one zip archive, and tickets to download it by a link. */
import { PoproomError } from '../../core/errors.ts';
import { isFileId } from '../../core/files/files.ts';
import { invalidTicket, type RoomZip, type Selection } from '../../core/files/zips.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { pinOnlyRequest } from '../../protocol/schemas.ts';
import type { TicketIssued } from '../../protocol/types.ts';
import { planZip } from '../../zip/format.ts';
import { readJson, smallBody } from '../request/json-body.ts';
import { callerOf, type Request } from '../request/request.ts';
import { ownBase } from '../response/links.ts';
import { json } from '../response/reply.ts';
import { bytesPerStream, holdFile, holdUntilSent } from '../response/unsent.ts';
import { zipStream } from '../zip/stream.ts';
import type { Handler, Service } from './handler.ts';

/** Proxies reject longer URLs. */
const maxSelected = 200;

/** The memory of an archive while it is sent, besides its stream: the list of its files. */
const bytesPerFile = 1024;

export const issueTicket =
  ({ zips, links }: Service): Handler =>
  async (request) => {
    const base = ownBase(request, links);
    const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest, smallBody);
    const { code, ticket, expiresAt } = await zips.issueTicket(callerOf(request, pin));
    const url = `${base}/api/rooms/${code}/files.zip?ticket=${ticket}`;
    return json(201, { ticket, url, expiresAt: toTimestamp(expiresAt) } satisfies TicketIssued);
  };

export const downloadZip = (service: Service): Handler => {
  const { zips } = service;
  return async (request) => {
    const { code, files } = await list(service, request);
    const plan = planZip(files);
    const headers = zipHeaders(code, plan.length);
    if (request.raw.method === 'HEAD') return { status: 200, headers };
    const bytes = bytesPerStream + bytesPerFile * files.length;
    if (!holdUntilSent(request, request.budgets.archives, bytes)) throw tooManyZips();
    holdFile(request);
    return { status: 200, headers, body: zipStream(plan, zips.open) };
  };
};

function list({ zips }: Service, request: Request): Promise<RoomZip> {
  const selection = selectionIn(request);
  if (!request.query.has('ticket')) return zips.list(callerOf(request), selection);
  if (request.ticket === undefined) throw invalidTicket();
  return zips.listByTicket(request.params.roomId ?? '', request.ticket, selection);
}

function selectionIn({ query }: Request): Selection {
  const ids = query.get('files')?.split(',');
  if (!ids) return undefined;
  if (ids.length <= maxSelected && ids.every(isFileId)) return new Set(ids);
  throw new PoproomError(
    'VALIDATION_FAILED',
    `"files" must be 1 to ${maxSelected} ids of files, separated by commas.`,
    {
      details: { field: 'files' },
    },
  );
}

const zipHeaders = (code: string, length: number): Record<string, string> => ({
  'Content-Type': 'application/zip',
  'Content-Length': String(length),
  'Content-Disposition': `attachment; filename="poproom-${code}.zip"`,
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cache-Control': 'no-store',
  // The checksums are known only after all earlier bytes have been read.
  'Accept-Ranges': 'none',
});

function tooManyZips(): PoproomError {
  return new PoproomError('UNAVAILABLE', 'Too many archives are being downloaded. Try again in 30 seconds.', {
    retryAfter: 30,
  });
}
