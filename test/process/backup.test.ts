/** `poproom backup` on a running server, and restoring what it wrote. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createTarWriter, readTar } from '../../src/backup/tar.ts';
import { adminOf, reportsEnv } from '../support/admin.ts';
import { dataFolder, run, type ServerProcess, startProcess } from '../support/process.ts';

const pin = '0427';
const bytes = Buffer.alloc(700_001, 'abcdefg');
const hook = new URL('http://127.0.0.1:9/hook');

describe('poproom backup', () => {
  it('[OPS-7] [ROLE-12] [HOOK-10] [REPORT-6] copies a running server into one private file that a new server can start from', async (t) => {
    const { folder, server, room, read, fileUrl, reports, tar } = await backedUpServer(t);
    assert.equal((await stat(tar)).mode & 0o777, 0o600);
    const listed = spawnSync('tar', ['tf', tar], { encoding: 'utf8' }).stdout.trim().split('\n');
    assert.match(listed[0] ?? '', /^files\/[0-9a-f]{64}$/);
    assert.deepEqual(listed.slice(1), ['secret', 'poproom.db', 'checksum']);
    assert.deepEqual(await readdir(join(folder, 'backup')), ['poproom.tar']);

    await server.api.delete(`/api/rooms/${room}`, { pin });
    const restored = join(folder, 'restored');
    const result = await run(['backup', 'restore', tar], { POPROOM_DATA_DIR: restored });
    assert.deepEqual([result.code, result.stderr], [0, '']);
    assert.equal(result.stdout, `Restored 1 room, 1 file (683.6 KiB) and 1 key into ${restored}.\n`);
    const next = await startProcess(t, restored, reportsEnv);
    const { json } = await next.api.get(`/api/rooms/${room}/content`, { pin });
    assert.equal(json.content, 'hello');
    assert.equal((await next.api.get(`/api/rooms/${read}/content`)).json.content, 'hello', 'the link');
    const { webhooks } = (await next.api.get(`/api/rooms/${room}/webhooks`, { pin })).json;
    assert.equal(webhooks[0]?.host, hook.host, 'the webhook');
    assert.deepEqual((await adminOf(next).get('/reports')).json, reports);
    const path = new URL(fileUrl).pathname;
    assert.equal((await next.api.get(path)).text, bytes.toString());
    assert.equal((await next.api.get(`/api/rooms/${room}`, { pin: '9999' })).status, 403);
  });

  it('[OPS-7] [OPS-8] overwrites no file, no data and no running server, and says so', async (t) => {
    const { folder, data, tar } = await backedUpServer(t);
    const env = { POPROOM_DATA_DIR: data };
    const [again, running, used, none, redis] = await Promise.all([
      run(['backup', tar], env),
      run(['backup', 'restore', tar, '--replace'], env),
      usedFolder(folder).then((used) => run(['backup', 'restore', tar], { POPROOM_DATA_DIR: used })),
      run(['backup', join(folder, 'x.tar')], { POPROOM_DATA_DIR: join(folder, 'none') }),
      run(['backup', tar], { POPROOM_STORE: 'redis://localhost', POPROOM_SECRET: 'x'.repeat(32) }),
    ]);
    assert.match(again.stderr, /^poproom: \S+poproom\.tar already exists; choose another name or remove it\.\n$/);
    assert.match(running.stderr, /^poproom: Another Poproom server is using the folder /);
    assert.match(used.stderr, /already contains data; choose an empty folder, or use --replace\.\n$/);
    assert.match(none.stderr, /^poproom: There is no Poproom data in \S+none\.\n$/);
    assert.match(
      redis.stderr,
      /^poproom: This server keeps its data in Redis or S3; back up Redis with "redis-cli --rdb"/,
    );
    assert.deepEqual(
      [again, running, used, none, redis].map(({ code }) => code),
      [1, 1, 1, 1, 2],
    );
    assert.equal(existsSync(join(folder, 'x.tar')), false);
  });

  it('[slow] [OPS-8] restores nothing from a damaged or incomplete file, and replaces data only if all is well', async (t) => {
    const { folder, data, server, room, tar } = await backedUpServer(t);
    await server.end('SIGTERM');
    const copy = await readFile(tar);
    const [cut, changed] = [join(folder, 'cut.tar'), join(folder, 'changed.tar')];
    await writeFile(cut, copy);
    await truncate(cut, copy.length - 2500);
    copy[5000] = 0x20;
    await writeFile(changed, copy);
    const env = { POPROOM_DATA_DIR: join(folder, 'fresh') };
    const [short, wrong] = [await run(['backup', 'restore', cut], env), await run(['backup', 'restore', changed], env)];
    assert.match(short.stderr, /^poproom: The backup is (incomplete|damaged)/);
    assert.match(wrong.stderr, /^poproom: The backup is damaged: its checksum does not match\.\n$/);
    const left = await readdir(env.POPROOM_DATA_DIR, { recursive: true, withFileTypes: true });
    assert.deepEqual(
      left.filter((entry) => entry.isFile()).map(({ name }) => name),
      ['server.lock'],
    );

    const later = await startProcess(t, data);
    const other = await later.api.room();
    await later.end('SIGTERM');
    const replaced = await run(['backup', 'restore', tar, '--replace', '--json'], { POPROOM_DATA_DIR: data });
    assert.deepEqual(JSON.parse(replaced.stdout), { rooms: 1, keys: 1, files: 1, bytes: bytes.length, missing: 0 });
    const last = await startProcess(t, data);
    assert.equal((await last.api.get(`/api/rooms/${other}`)).status, 404);
    assert.equal((await last.api.get(`/api/rooms/${room}`, { pin })).status, 200);
  });

  it('[OPS-7] writes and reads entries of more than 8 GiB', async (t) => {
    const path = join(await dataFolder(t), 'large.tar');
    const size = 9 * 1024 ** 3;
    const file = await open(path, 'wx');
    // The header is enough: the content is checked against it at the end.
    await assert.rejects(createTarWriter(file).add('large', size, [Buffer.from('x')]), /changed while/);
    await file.close();
    const reading = await open(path);
    t.after(() => reading.close());
    const first = await readTar(reading).next();
    assert.equal(first.value?.size, size);
    const { stdout } = spawnSync('tar', ['tvf', path], { encoding: 'utf8' });
    assert.match(stdout, new RegExp(` ${size} .* large`));
  });
});

async function backedUpServer(t: TestContext) {
  const folder = await dataFolder(t);
  const data = join(folder, 'data');
  const server = await startProcess(t, data, { ...reportsEnv, POPROOM_WEBHOOK_HOSTS: hook.host });
  const room = await server.api.room({ pin });
  const link = await server.api.post(`/api/rooms/${room}/links`, { pin, json: { role: 'read' } });
  // No event of this type happens.
  await server.api.post(`/api/rooms/${room}/webhooks`, { pin, json: { url: hook.href, events: ['room'] } });
  await server.api.post(`/api/rooms/${room}/content`, { pin, json: { content: 'hello' } });
  const { json } = await server.api.upload(room, 'a.bin', bytes, { pin });
  const reports = await reportRooms(server, room);
  await run(['keys', 'create', 'laptop'], { POPROOM_DATA_DIR: data });
  await mkdir(join(folder, 'backup'));
  const tar = join(folder, 'backup', 'poproom.tar');
  const { code, stdout, stderr } = await run(['backup', tar], { POPROOM_DATA_DIR: data });
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^Backed up 1 room, 1 file \(683\.6 KiB\) and 1 key to \S+poproom\.tar\.\nIt contains the secret/,
  );
  const read = link.json.linkId as string;
  return { folder, data, server, room, read, fileUrl: json.fileUrl as string, reports, tar };
}

/** Two reports, one of them about a room that has ended. Returns what the admin interface shows. */
async function reportRooms({ api }: ServerProcess, room: string): Promise<unknown> {
  const ended = await api.room();
  await api.post(`/api/rooms/${ended}/reports`, { json: { reason: 'other' } });
  await api.delete(`/api/rooms/${ended}`);
  await api.post(`/api/rooms/${room}/reports`, { pin, json: { reason: 'malware', comment: 'a virus' } });
  const { json } = await adminOf({ api }).get('/reports');
  assert.equal(json.total, 2);
  return json;
}

async function usedFolder(folder: string): Promise<string> {
  const used = join(folder, 'used');
  await mkdir(used);
  await writeFile(join(used, 'poproom.db'), '');
  return used;
}
