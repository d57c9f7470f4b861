/** Explains why a server cannot listen, with the address that it was given. */
import type { Config } from '../../config.ts';
import { PoproomError } from '../../core/errors.ts';
import { UsageError } from '../usage-error.ts';

/** Returns other errors as they are. */
export function explainStart(error: unknown, { port, host }: Config): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isWrongHost = code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo';
  if (isWrongHost)
    return new UsageError(`"${host}" is not an address of this machine; correct --host or POPROOM_HOST.`);
  if (syscall !== 'listen') return error;
  if (code === 'EADDRINUSE') return refusal(`Port ${port} is in use. Choose another one, such as --port ${port + 1}.`);
  if (code !== 'EACCES') return error;
  return refusal(`Port ${port} needs the rights of an administrator. Choose another one, such as --port 8080.`);
}

const refusal = (sentence: string) => new PoproomError('UNAVAILABLE', sentence);
