/** Converts errors of an S3 store. */
import { PoproomError } from '../core/errors.ts';
import { storageFull } from './errors.ts';

interface S3Error extends Error {
  code?: string;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
}

/** Undefined for a missing object. A missing bucket is an error. */
export function noneIfNoSuchKey(error: S3Error): undefined {
  if (error.name !== 'NoSuchKey' && error.name !== 'NotFound') throw error;
}

/** Undefined for an upload in parts that has ended, and for stores that do not support listing or aborting them. */
export function noneIfMissingUpload(error: S3Error): undefined {
  const isUnsupported = error.name === 'NotImplemented' || error.name === 'MethodNotAllowed';
  if (error.name !== 'NoSuchUpload' && !isUnsupported) throw error;
}

/** A stale connection or a busy store. Not a silent store: waiting for it twice would take too long. */
export function isPassing(error: unknown): boolean {
  const { code = '', $metadata: { httpStatusCode: status = 0, clockSkewCorrected = false } = {} } = error as S3Error;
  const broken = code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNREFUSED';
  return broken || clockSkewCorrected || status === 429 || (status >= 500 && !isFull(error as S3Error));
}

/** Whether the store responded, even with an error. */
export const isReply = (error: unknown): boolean => (error as S3Error).$metadata?.httpStatusCode !== undefined;

export function s3Failure(error: unknown): PoproomError {
  const cause = withoutSecrets(error as S3Error);
  if (isFull(error as S3Error)) return storageFull(cause);
  return new PoproomError('UNAVAILABLE', 'The file store does not respond at the moment. Try again in 5 seconds.', {
    retryAfter: 5,
    cause,
  });
}

/** MinIO and Ceph have error codes for it. Garage denies access with a message. */
function isFull({ name, message, $metadata: { httpStatusCode: status } = {} }: S3Error): boolean {
  const named = /StorageFull|StorageBackendFull|QuotaExceeded|StorageCapExceeded|InsufficientStorage/.test(name);
  return named || status === 507 || (status === 403 && /quota is reached/.test(message));
}

/** A signature error contains the access key and the signed data as fields, which must not be logged. */
function withoutSecrets({ name, message, code, $metadata }: S3Error): Error {
  const status = $metadata?.httpStatusCode;
  return Object.assign(new Error(message), { name }, code && { code }, status && { status });
}
