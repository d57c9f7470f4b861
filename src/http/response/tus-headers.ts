/** Headers of the tus protocol. */

export const tusVersion = '1.0.0';

/** The length of each checksum in bytes. */
export const checksumAlgorithms: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, md5: 16 };

/** On every response to a tus request, errors included. */
export const tusHeaders = { 'Tus-Resumable': tusVersion, 'Tus-Version': tusVersion };

/** On a response to OPTIONS. */
export const tusCapabilities = (maxBytes: number): Record<string, string> => ({
  ...tusHeaders,
  'Tus-Extension': 'creation,creation-with-upload,termination,expiration,checksum',
  'Tus-Checksum-Algorithm': Object.keys(checksumAlgorithms).join(','),
  'Tus-Max-Size': String(maxBytes),
});
