/** The bucket of a server, read over HTTP. Names are returned without the server's prefix. */
import assert from 'node:assert/strict';
import type { S3Client } from '@aws-sdk/client-s3';
import { readConfig } from '../../src/config.ts';
import type { TestServer } from './server.ts';

export interface ServerBucket {
  names(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
  write(name: string, text: string): Promise<void>;
}

const clients = new Map<string, S3Client>();

/** Undefined for a server that stores its files on disk. */
export async function bucketOf({ settings }: TestServer): Promise<ServerBucket | undefined> {
  const { files, s3Endpoint: endpoint = '' } = readConfig({ ...settings });
  if (files === 'disk:' || 'folder' in files) return undefined;
  const { bucket: Bucket, prefix } = files;
  // Loaded on demand, because loading takes longer than most tests.
  const s3 = await import('@aws-sdk/client-s3');
  const client = clients.get(endpoint) ?? new s3.S3Client({ endpoint, forcePathStyle: true });
  clients.set(endpoint, client);
  return {
    async names() {
      const page = await client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: prefix }));
      assert.ok(!page.IsTruncated, 'the list of objects is complete');
      return (page.Contents ?? []).map(({ Key = '' }) => Key.slice(prefix.length));
    },
    async read(name) {
      const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key: prefix + name }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async write(name, text) {
      await client.send(new s3.PutObjectCommand({ Bucket, Key: prefix + name, Body: text }));
    },
  };
}
