/** The certificate and the private key of the server: read, checked, and read again when the files change. */
import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Log } from '../core/ports/basics.ts';

type CertificateFiles = Record<'certFile' | 'keyFile', string>;
export type CertificatePem = Record<'cert' | 'key', string>;

/** Undefined if the settings name no files. */
export function openCertificate({ certFile, keyFile }: { [K in keyof CertificateFiles]: string | undefined }) {
  if (!certFile || !keyFile) return undefined;
  const files = { certFile, keyFile };
  const pem = loadCertificate(files);
  return { pem, watch: (watch: Watch) => watchCertificate(files, pem, watch) };
}

/** The files that the settings name cannot be used. The message is a sentence for the operator. */
export class CertificateError extends Error {}

/** Throws a CertificateError. */
export function loadCertificate(files: CertificateFiles): CertificatePem {
  const pem = readPem(files);
  checkPem(pem, files);
  return pem;
}

const readPem = ({ certFile, keyFile }: CertificateFiles): CertificatePem => ({
  cert: read('POPROOM_TLS_CERT', certFile),
  key: read('POPROOM_TLS_KEY', keyFile),
});

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'Cannot read';
    throw new CertificateError(`${name}: ${reason} ${path}.`, { cause: error });
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'There is no file',
  EACCES: 'The user of the server may not read',
  EISDIR: 'A folder is not a certificate:',
};

function checkPem({ cert, key }: CertificatePem, { certFile, keyFile }: CertificateFiles): void {
  const certificate = parse(() => readCertificate(cert), `POPROOM_TLS_CERT: ${certFile} is not a PEM certificate.`);
  const isEncrypted = key.includes('ENCRYPTED');
  const hint = isEncrypted ? 'has a passphrase; remove it with "openssl pkey"' : 'is not a PEM private key';
  const privateKey = parse(() => createPrivateKey(key), `POPROOM_TLS_KEY: ${keyFile} ${hint}.`);
  if (certificate.checkPrivateKey(privateKey)) return;
  throw new CertificateError(`POPROOM_TLS_KEY: ${keyFile} does not belong to the certificate ${certFile}.`);
}

function parse<T>(read: () => T, sentence: string): T {
  try {
    return read();
  } catch (error) {
    throw new CertificateError(sentence, { cause: error });
  }
}

/** Milliseconds since the epoch. */
export const expiryOf = ({ cert }: CertificatePem): number => readCertificate(cert).validToDate.getTime();

/** The class is looked up here: most servers have no certificate, and the module that has it loads slowly. */
function readCertificate(pem: CertificatePem['cert']): X509Certificate {
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  return new X509Certificate(pem);
}

interface Watch {
  everyMs: number;
  log: Log;
  /** Called with each new certificate. */
  use: (pem: CertificatePem) => void;
}

/** Compares contents, because tools replace files, links or whole folders. Returns a function that stops it. */
function watchCertificate(files: CertificateFiles, loaded: CertificatePem, { everyMs, log, use }: Watch): () => void {
  let seen = JSON.stringify(loaded);
  /** The last reason that was logged. */
  let reason: string | undefined;

  /** Undefined if the files have not changed. */
  function loadChanged(): CertificatePem | undefined {
    const pem = readPem(files);
    if (JSON.stringify(pem) === seen) return undefined;
    checkPem(pem, files);
    return pem;
  }

  function check(): void {
    let pem: CertificatePem | undefined;
    try {
      pem = loadChanged();
    } catch (error) {
      const { message } = error as Error;
      if (message !== reason) log.error({ reason: message }, 'new TLS certificate not usable; keeping the old one');
      reason = message;
    }
    if (!pem) return;
    seen = JSON.stringify(pem);
    reason = undefined;
    use(pem);
    log.info({}, 'TLS certificate reloaded');
  }

  const timer = setInterval(check, everyMs).unref();
  return () => clearInterval(timer);
}
