/** Receiving one-time files. */
import { toTimestamp } from '../../core/timestamp.ts';
import { pinOnlyRequest } from '../../protocol/schemas.ts';
import type { Confirmation, FileClaimed } from '../../protocol/types.ts';
import { readJson, smallBody } from '../request/json-body.ts';
import { callerOf } from '../request/request.ts';
import { fileAddresses } from '../response/links.ts';
import { json } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';

export const claimFile =
  ({ claims, links }: Service): Handler =>
  async (request) => {
    const { linkTo } = fileAddresses(request, links);
    const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest, smallBody);
    const { file, claim, expiresAt } = await claims.claim(callerOf(request, pin), request.params.fileId ?? '');
    const url = `${linkTo(file)}?claim=${claim}`;
    return json(200, { claim, url, expiresAt: toTimestamp(expiresAt) } satisfies FileClaimed);
  };

export const confirmClaim = ({ claims }: Service): Handler =>
  endClaim(claims.confirm, 'The file was received and erased.');
export const releaseClaim = ({ claims }: Service): Handler => endClaim(claims.release, 'The file is available again.');

function endClaim(end: Service['claims']['confirm'], message: string): Handler {
  return async (request) => {
    const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest, smallBody);
    await end(callerOf(request, pin), request.params.claim ?? '');
    return json(200, { success: true, message } satisfies Confirmation);
  };
}
