/** Clients that send resumable uploads until the server is gone, and record what was acknowledged. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { hashOf } from '../support/acknowledged.ts';
import type { ApiResponse, createApi } from '../support/api.ts';
import type { Random } from '../support/seeded-random.ts';
import { createUpload, offsetOf, partType, pathIn, sendPart, tus } from '../support/tus.ts';
import { untilServerStops } from './writers.ts';

type Api = ReturnType<typeof createApi>;

export interface TrackedUpload {
  bytes: Buffer;
  /** Unknown if the creation was not acknowledged. */
  path?: string;
  id?: string;
  /** Bytes that the server acknowledged. */
  acknowledged: number;
  state: 'sending' | 'complete' | 'cancelling' | 'cancelled';
  /** Whether its complete file was compared. */
  isChecked?: boolean;
}

export interface Uploaders {
  /** `enough` resolves after `responses` more responses; `gone` when all clients have lost the server. */
  start(api: Api, responses: number): { enough: Promise<void>; gone: Promise<unknown> };
  /** Fails unless the server has all acknowledged bytes, and complete files are intact. */
  assertAcknowledged(api: Api): Promise<void>;
  /** Sends a whole file. */
  completeOne(api: Api): Promise<void>;
  complete(): TrackedUpload[];
  /** The number of responses so far. */
  requests(): number;
}

const KiB = 1024;
const clients = 4;

export function createUploaders(random: Random, largest: number): Uploaders {
  const sizes = [1, 30 * KiB, 300 * KiB, largest];
  const uploads: TrackedUpload[] = [];
  let requests = 0;
  let room: string | undefined;

  async function create(api: Api): Promise<TrackedUpload> {
    const bytes = Buffer.alloc(random.pick(sizes), `upload ${uploads.length} `);
    const upload: TrackedUpload = { bytes, acknowledged: 0, state: 'sending' };
    uploads.push(upload);
    const first = bytes.subarray(0, random.number(2) * random.number(bytes.length));
    const created =
      first.length === 0
        ? await createUpload(api, room ?? '', bytes.length)
        : await api.post(`/api/rooms/${room}/uploads`, {
            headers: { ...tus, ...partType, 'upload-length': String(bytes.length) },
            body: new Uint8Array(first),
          });
    upload.path = pathIn(created);
    upload.id = upload.path.split('/').at(-1) ?? '';
    acknowledge(upload, created);
    return upload;
  }

  function acknowledge(upload: TrackedUpload, { headers }: ApiResponse): void {
    upload.acknowledged = Number(headers.get('upload-offset'));
    if (upload.acknowledged === upload.bytes.length) upload.state = 'complete';
  }

  async function send(api: Api, upload: TrackedUpload): Promise<void> {
    const { bytes, path = '', acknowledged } = upload;
    const part = bytes.subarray(acknowledged, acknowledged + 1 + random.number(bytes.length - acknowledged));
    const checksum = { 'upload-checksum': `sha1 ${createHash('sha1').update(part).digest('base64')}` };
    const response = await sendPart(api, path, acknowledged, part, random.number(3) === 0 ? checksum : {});
    assert.equal(response.status, 204, response.text);
    acknowledge(upload, response);
  }

  async function cancel(api: Api, upload: TrackedUpload): Promise<void> {
    upload.state = 'cancelling';
    assert.equal((await api.delete(upload.path ?? '', { headers: tus })).status, 204);
    upload.state = 'cancelled';
  }

  /** Continues an upload of an earlier server, or starts one. */
  async function work(api: Api, idle: TrackedUpload[], count: () => void): Promise<void> {
    const upload = idle.shift() ?? (await create(api));
    count();
    while (upload.state === 'sending') {
      await (random.number(10) === 0 ? cancel(api, upload) : send(api, upload));
      count();
    }
  }

  async function assertUpload(api: Api, upload: TrackedUpload): Promise<void> {
    const { path = '', state, acknowledged, bytes } = upload;
    const { status } = await api.call('HEAD', path, { headers: tus });
    if (state === 'cancelled') return assert.equal(status, 404, 'a cancelled upload is gone');
    if (state === 'cancelling' && status === 404) {
      upload.state = 'cancelled';
      return;
    }
    upload.state = 'sending';
    upload.acknowledged = await offsetOf(api, path);
    assert.ok(upload.acknowledged >= acknowledged, `${acknowledged} bytes were acknowledged`);
    if (upload.acknowledged < bytes.length) return;
    upload.state = 'complete';
    upload.isChecked ||= await assertIntact(api, upload);
  }

  return {
    start(api, responses) {
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const until = requests + responses;
      const count = () => {
        requests += 1;
        if (requests >= until) resolve();
      };
      const idle = uploads.filter(({ path, state }) => path !== undefined && state === 'sending');
      const working = async () => {
        room ??= await api.room({ expiresIn: 7 * 86_400 });
        await Promise.all(Array.from({ length: clients }, () => untilServerStops(() => work(api, idle, count))));
      };
      return { enough, gone: working() };
    },

    async assertAcknowledged(api) {
      for (const upload of uploads) if (upload.path !== undefined) await assertUpload(api, upload);
    },

    async completeOne(api) {
      room ??= await api.room({ expiresIn: 7 * 86_400 });
      const upload = await create(api);
      while (upload.state === 'sending') await send(api, upload);
    },

    complete: () => uploads.filter(({ state }) => state === 'complete'),
    requests: () => requests,
  };
}

async function assertIntact(api: Api, { id, bytes }: TrackedUpload): Promise<true> {
  const { status, text } = await api.get(`/files/${id}/x`);
  assert.deepEqual([status, hashOf(Buffer.from(text))], [200, hashOf(bytes)]);
  return true;
}
