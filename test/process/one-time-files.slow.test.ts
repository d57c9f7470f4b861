/** One-time files across a crash of the server, and a browser that opens their address. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { launchBrowser } from '../support/browser.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';

async function uploadOnce({ api }: ServerProcess, room: string): Promise<{ fileId: string; path: string }> {
  const { json } = await api.post(`/api/rooms/${room}/upload?fileName=secret.html&once=true`, {
    body: '<script>document.title = "it was read"</script>',
    headers: { 'content-type': 'text/html' },
  });
  const path = new URL(json.fileUrl).pathname;
  return { fileId: path.split('/')[2] ?? '', path };
}

describe('a one-time file', () => {
  it('[ONCE-9] [LIFE-6] keeps its bytes and its claim when the server is killed', async (t) => {
    const folder = await dataFolder(t);
    const before = await startProcess(t, folder);
    const room = await before.api.room();
    const { fileId, path } = await uploadOnce(before, room);
    const { claim } = (await before.api.post(`/api/rooms/${room}/files/${fileId}/claim`)).json;
    await before.end('SIGKILL');

    const { api } = await startProcess(t, folder);
    assert.equal((await api.post(`/api/rooms/${room}/files/${fileId}/claim`)).code, 'FILE_CLAIMED');
    assert.match((await api.get(`${path}?claim=${claim}`)).text, /it was read/);
    assert.equal((await api.post(`/api/rooms/${room}/claims/${claim}/done`)).status, 200);
    assert.deepEqual((await api.get(`/api/rooms/${room}/files`)).json.files, []);
  });

  it('[ONCE-2] is not used up by a browser that opens its address and runs scripts', async (t) => {
    const server = await startProcess(t, await dataFolder(t));
    const room = await server.api.room();
    const { fileId, path } = await uploadOnce(server, room);
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    const opened = await page.goto(server.url + path);
    assert.equal(opened?.status(), 409);
    await page.getByRole('heading').waitFor();
    await page.reload();

    const { url } = (await server.api.post(`/api/rooms/${room}/files/${fileId}/claim`)).json;
    const downloading = page.waitForEvent('download');
    await page.goto(url).catch(() => undefined);
    const saved = await (await downloading).createReadStream();
    assert.match(String(Buffer.concat(await saved.toArray())), /it was read/, 'the address with the claim is a link');
    assert.equal((await server.api.get(`/api/rooms/${room}/files`)).json.files.length, 1);
  });
});
