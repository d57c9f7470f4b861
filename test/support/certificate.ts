/** Certificates that are their own issuer, made without openssl. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  key: string;
  cert: string;
}

interface CertificateOptions {
  name?: string;
  days?: number;
  /** The only host that it is valid for. */
  host?: 'localhost' | '127.0.0.1';
}

/** Writes `key.pem` and `cert.pem` into the folder, and returns their paths. */
export function writeCertificate(folder: string, options: CertificateOptions = {}): Certificate {
  const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
  const { key, cert } = createCertificate(options);
  writeFileSync(files.key, key);
  writeFileSync(files.cert, cert);
  return files;
}

/** In PEM. */
export function createCertificate({
  name = 'A test',
  days = 2,
  host = '127.0.0.1',
}: CertificateOptions = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const issuer = sequence(set(sequence(commonName, der(0x0c, Buffer.from(name)))));
  const content = sequence(
    der(0xa0, integer(2)),
    // A positive number.
    der(0x02, Buffer.from([1, ...randomBytes(15)])),
    sequence(ecdsaWithSha256),
    issuer,
    sequence(time(now - 60_000), time(now + days * 86_400_000)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(extensionOf(subjectAltName, sequence(hostNames[host])), extensionOf(basicConstraints, isAuthority)),
    ),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const bytes = sequence(content, sequence(ecdsaWithSha256), signature);
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
}

/** A value in DER: its tag, its length and its parts. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const set = (...parts: Buffer[]) => der(0x31, ...parts);
const integer = (n: number) => der(0x02, Buffer.from([n]));
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const extensionOf = (id: Buffer, value: Buffer) => sequence(id, der(0x04, value));

/** As 20260115093000Z. */
const time = (ms: number) => der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`));

const commonName = objectId('550403');
const ecdsaWithSha256 = objectId('2a8648ce3d040302');
const subjectAltName = objectId('551d11');
const basicConstraints = objectId('551d13');
const hostNames = {
  localhost: der(0x82, Buffer.from('localhost')),
  '127.0.0.1': der(0x87, Buffer.from([127, 0, 0, 1])),
};
const isAuthority = sequence(der(0x01, Buffer.from([0xff])));
