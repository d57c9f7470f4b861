/** A real S3 store for tests: s3rver, in this process, on a free port, with its objects in a temporary folder. */
import crypto, { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, type Dirent, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { addMultipartRequests, type PendingUpload, pendingUploads } from './s3-multipart.ts';

export interface TestS3 {
  port: number;
  /** For path-style addressing. */
  endpoint: string;
  /** For virtual-host addressing. Only works for clients that resolve names under .localhost themselves. */
  virtualHostEndpoint: string;
  bucket: string;
  /** Region and credentials for the AWS SDK. */
  env: Record<string, string>;
  /** The keys of all objects in the bucket. */
  keys(): Promise<string[]>;
  /** The uploads in parts that are neither finished nor aborted. */
  pendingUploads(): Promise<PendingUpload[]>;
  /** The keys of all successful delete requests, including those for objects that did not exist. */
  deletions(): string[];
  /** The numbers of the parts that were sent for a key. */
  partNumbers(key: string): number[];
  /** The path of an object. The modification time of the file is that of the object. */
  pathOf(key: string): string;
  stop(): Promise<void>;
}

export interface S3Settings {
  /** How many objects a page of a list has. */
  keysPerPage?: number;
}

export async function startS3({ keysPerPage = 1000 }: S3Settings = {}): Promise<TestS3> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-s3-'));
  const bucket = 'poproom-test';
  const s3rver = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    serviceEndpoint: 'localhost',
    configureBuckets: [{ name: bucket }],
  });
  patchStore(s3rver.store, folder);
  const listObjects = s3rver.store.listObjects.bind(s3rver.store);
  s3rver.store.listObjects = (bucket, options) =>
    listObjects(bucket, { ...options, maxKeys: Math.min(options.maxKeys, keysPerPage) });
  const { port } = await s3rver.run();
  const uploadsFolder = s3rver.store.getResourcePath(bucket, undefined, 'uploads');
  addMultipartRequests(s3rver.httpServer, uploadsFolder);
  const deletions: string[] = [];
  const parts: { path: string; number: number }[] = [];
  s3rver.httpServer.on('request', ({ method, url = '' }: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    if (method === 'PUT' && searchParams.has('partNumber')) {
      parts.push({ path: pathname, number: Number(searchParams.get('partNumber')) });
    }
    if (method !== 'DELETE') return;
    // s3rver rejects some of many concurrent deletes, and clients retry them.
    response.once('finish', () => response.statusCode === 204 && deletions.push(url.split('?', 1)[0] ?? ''));
  });
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    virtualHostEndpoint: `http://s3.localhost:${port}`,
    bucket,
    env: { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' },
    keys: () => keysIn(join(folder, bucket)),
    pendingUploads: () => pendingUploads(uploadsFolder),
    deletions: () => deletions,
    partNumbers: (key) => parts.filter(({ path }) => path === `/${bucket}/${key}`).map(({ number }) => number),
    pathOf: (key) => s3rver.store.getResourcePath(bucket, key, 'object'),
    async stop() {
      const closed = s3rver.close();
      s3rver.httpServer.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true, maxRetries: 5 });
    },
  };
}

/** s3rver has no types of its own. */
interface S3rver {
  store: ObjectFolder;
  httpServer: Server;
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

interface ObjectFolder {
  getResourcePath(bucket: string, key: string | undefined, resource: string): string;
  putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>;
  putObject(object: StoredObject): Promise<{ size: number; md5: string }>;
  getObject(bucket: string, key: string, options?: Range): Promise<unknown>;
  listObjects(bucket: string, options: { maxKeys: number }): Promise<unknown>;
}

interface StoredObject {
  bucket: string;
  key: string;
  content: Readable;
  metadata: Record<string, string>;
}

interface Range {
  start?: number;
  end?: number | string;
}

const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver;
const objectSuffix = '._S3rver_object';
patchCipher();

/** Fixes two bugs of s3rver: it lists incomplete objects, and returns the whole object for `bytes=0-0`. */
function patchStore(store: ObjectFolder, folder: string): void {
  store.putObject = async ({ bucket, key, content, metadata }) => {
    const temporary = join(folder, randomUUID());
    try {
      const { size, md5 } = await writeToFile(content, temporary);
      const path = store.getResourcePath(bucket, key, 'object');
      await mkdir(dirname(path), { recursive: true });
      await rename(temporary, path);
      await store.putMetadata(bucket, key, metadata, md5);
      return { size, md5 };
    } finally {
      await rm(temporary, { force: true });
    }
  };
  const getObject = store.getObject.bind(store);
  store.getObject = (bucket, key, { start, end } = {}) =>
    getObject(bucket, key, { ...(start !== undefined && { start }), ...(end !== undefined && { end: String(end) }) });
}

/** s3rver encrypts page tokens with DES, which OpenSSL no longer has. 3DES with the same key three times is equivalent. */
function patchCipher(): void {
  const { createCipheriv, createDecipheriv } = crypto;
  const tripled = (key: Buffer) => Buffer.concat([key, key, key]);
  Object.assign(crypto, {
    createCipheriv: (name: string, key: Buffer, ...rest: [Buffer]) =>
      name === 'des' ? createCipheriv('des-ede3-cbc', tripled(key), ...rest) : createCipheriv(name, key, ...rest),
    createDecipheriv: (name: string, key: Buffer, ...rest: [Buffer]) =>
      name === 'des' ? createDecipheriv('des-ede3-cbc', tripled(key), ...rest) : createDecipheriv(name, key, ...rest),
  });
}

async function writeToFile(content: Readable, path: string): Promise<{ size: number; md5: string }> {
  const hash = createHash('md5');
  let size = 0;
  content.on('data', (chunk: Buffer) => {
    size += chunk.length;
    hash.update(chunk);
  });
  await pipeline(content, createWriteStream(path));
  return { size, md5: hash.digest('hex') };
}

async function keysIn(folder: string): Promise<string[]> {
  const entries = await listRecursively(folder);
  const objects = entries.filter((entry) => entry.isFile() && entry.name.endsWith(objectSuffix));
  return objects.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1, -objectSuffix.length));
}

/** A folder that becomes empty is removed, maybe while it is read. */
async function listRecursively(folder: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await readdir(folder, { recursive: true, withFileTypes: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(folder)) throw error;
    }
  }
}
