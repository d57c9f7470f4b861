/** The SDK's uploads, in a browser: they need XMLHttpRequest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { sharedTestSite } from '../support/page.ts';
import { loadSdk, type WithSdk as OnlySdk } from '../support/sdk-in-page.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

type WithSdk = OnlySdk & { uploading: { sent: number; stop(): void; end: Promise<string> } };

describe('an upload by the SDK', () => {
  it('[SDK-7] reports its progress up to the full size', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice();
    await loadSdk(page);
    const room = await site.server.api.room({ pin: '1234' });
    const { progress, name } = await page.evaluate(async (room) => {
      const { sdk } = globalThis as WithSdk;
      const progress: number[] = [];
      const file = new Blob([new Uint8Array(4_000_000)], { type: 'image/png' });
      const { fileName } = await sdk
        .createClient({ url: location.origin })
        .room(room, { pin: '1234' })
        .upload(file, { name: 'Urlaub 你好.png', onProgress: (sent) => progress.push(sent) });
      return { progress, name: fileName };
    }, room);
    assert.equal(name, 'Urlaub 你好.png');
    assert.equal(progress.at(-1), 4_000_000);
    assert.deepEqual(
      progress,
      progress.toSorted((a, b) => a - b),
    );
    const { files } = (await site.server.api.get(`/api/rooms/${room}/files`, { pin: '1234' })).json;
    assert.equal(files.length, 1);
  });

  it('[SDK-7] can be aborted, and leaves nothing', async (t) => {
    const site = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => site.server.port);
    const { page } = await site.openDevice({ baseURL: proxy.url });
    await loadSdk(page);
    const room = await site.server.api.room();
    proxy.pause();
    await page.evaluate((room) => {
      const here = globalThis as WithSdk;
      const aborter = new AbortController();
      const file = new Blob([new Uint8Array(4_000_000)]);
      const onProgress = (sent: number) => {
        here.uploading.sent = sent;
      };
      const upload = here.sdk
        .createClient({ url: location.origin })
        .room(room)
        .upload(file, { name: 'a.bin', onProgress, signal: aborter.signal });
      here.uploading = {
        sent: 0,
        stop: () => aborter.abort(),
        end: upload.then(
          () => 'stored',
          (error) => error.name,
        ),
      };
    }, room);
    await eventually('some of it is sent', () => page.evaluate(() => (globalThis as WithSdk).uploading.sent > 0));
    const end = await page.evaluate(() => {
      const { uploading } = globalThis as WithSdk;
      uploading.stop();
      return uploading.end;
    });
    assert.equal(end, 'AbortError');
    proxy.resume();
    assert.deepEqual((await site.server.api.get(`/api/rooms/${room}/files`)).json.files, []);
  });

  it('[SDK-7] fails with the error of its progress callback, and cancels its stream when it is aborted', async (t) => {
    const site = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => site.server.port);
    const { page } = await site.openDevice({ baseURL: proxy.url });
    await loadSdk(page);
    const code = await site.server.api.room();
    // Without, all of it may be there before the first word of its progress.
    proxy.pause();
    const failed = await page.evaluate(async (code) => {
      const room = (globalThis as WithSdk).sdk.createClient({ url: location.origin }).room(code);
      const onProgress = () => {
        throw new Error('no screen');
      };
      const unseen = room.upload(new Blob([new Uint8Array(4_000_000)]), { name: 'x', onProgress });
      const aborter = new AbortController();
      let isClosed = false;
      const stuck = new ReadableStream<Uint8Array>({
        pull: () => aborter.abort(new Error('enough')),
        cancel() {
          isClosed = true;
        },
      });
      const calledOff = room.upload(stuck, { name: 'x', signal: aborter.signal });
      const said = await Promise.all([unseen, calledOff].map((upload) => upload.catch((error) => error.message)));
      return [...said, isClosed];
    }, code);
    assert.deepEqual(failed, ['no screen', 'enough', true]);
    proxy.resume();
    assert.deepEqual((await site.server.api.get(`/api/rooms/${code}/files`)).json.files, []);
  });

  it('[SDK-7] [SDK-1] fails like every request', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await site.openDevice();
    await loadSdk(page);
    const codes = await page.evaluate(async () => {
      const { sdk } = globalThis as WithSdk;
      const upload = (url: string, signal?: AbortSignal) =>
        sdk
          .createClient({ url })
          .room('ZZZZZZ')
          .upload(new Blob(['x']), { name: 'x', ...(signal && { signal }) })
          .catch((error) => error.code ?? error.name);
      return [await upload(location.origin), await upload(location.origin, AbortSignal.abort())];
    });
    assert.deepEqual(codes.slice(0, 1), ['ROOM_NOT_FOUND']);
    assert.equal(codes[1], DOMException.ABORT_ERR);
  });
});
