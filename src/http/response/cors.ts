/** Pages of any origin may use the API and the files. There are no cookies, so no credentials are needed. */
import type { Reply } from './reply.ts';

const exposed =
  'ETag, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ' +
  'X-Request-Id, Content-Disposition, Content-Range, Allow, Location, Idempotency-Replayed';

export const corsHeaders = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed };

/** Only for uploads in several requests: the longer list would be sent with every response. */
export const tusCorsHeaders = {
  ...corsHeaders,
  'Access-Control-Expose-Headers':
    `${exposed}, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, ` +
    'Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, X-File-Url',
};

export function preflight(allow: string[], isSameOriginOnly: boolean): Reply {
  if (isSameOriginOnly) return { status: 204, headers: { Allow: allow.join(', '), 'Cache-Control': 'no-store' } };
  return {
    status: 204,
    headers: {
      Allow: allow.join(', '),
      'Access-Control-Allow-Methods': allow.join(', '),
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, If-None-Match, If-Range, Last-Event-ID, Range, ' +
        'traceparent, tracestate, Tus-Resumable, Upload-Checksum, Upload-Defer-Length, Upload-Length, Upload-Metadata, ' +
        'Upload-Offset, X-API-Key, X-Device-Id, X-File-Meta, X-File-Name, X-HTTP-Method-Override, X-Request-Id, ' +
        'X-Requested-With, X-Resume-Token, X-Room-Auth, X-Room-Pin',
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'no-store',
    },
  };
}
