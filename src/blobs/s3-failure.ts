/** What can go wrong with an S3 store, in the words of the service. */
import { PoproomError } from '../core/errors.ts';
import { storageFull } from './storage-full.ts';

interface S3Error extends Error {
  code?: string;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
}

/** Where the object is missing; a bucket that is missing is a failure. */
export function noneIfNoSuchKey(error: S3Error): undefined {
  if (error.name !== 'NoSuchKey' && error.name !== 'NotFound') throw error;
}

/** A connection that had gone stale, or a store that is busy. Not a store that is silent: that takes too long twice. */
export function isPassing(error: unknown): boolean {
  const { code = '', $metadata: { httpStatusCode: status = 0, clockSkewCorrected = false } = {} } = error as S3Error;
  const broken = code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNREFUSED';
  return broken || clockSkewCorrected || status === 429 || (status >= 500 && !isFull(error as S3Error));
}

/** Whether the store said something, if only no. */
export const isReply = (error: unknown): boolean => (error as S3Error).$metadata?.httpStatusCode !== undefined;

export function s3Failure(error: unknown): PoproomError {
  const cause = withoutSecrets(error as S3Error);
  if (isFull(error as S3Error)) return storageFull(cause);
  return new PoproomError('UNAVAILABLE', 'The store of files does not answer at the moment.', { retryAfter: 5, cause });
}

/** MinIO and Ceph have codes for it; Garage denies access and says why. */
function isFull({ name, message, $metadata: { httpStatusCode: status } = {} }: S3Error): boolean {
  const named = /StorageFull|StorageBackendFull|QuotaExceeded|StorageCapExceeded|InsufficientStorage/.test(name);
  return named || status === 507 || (status === 403 && /quota is reached/.test(message));
}

/** A refused signature comes back with the access key and all that was signed as fields, which would reach the log. */
function withoutSecrets({ name, message, code, $metadata }: S3Error): Error {
  const status = $metadata?.httpStatusCode;
  return Object.assign(new Error(message), { name }, code && { code }, status && { status });
}
