/** Valid and invalid settings. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspectConfig } from '../../src/config.ts';

const POPROOM_SECRET = 'a secret that is long enough';

describe('a Redis URL', () => {
  const wrong: Record<string, RegExp> = {
    'redis://one,two': /^POPROOM_STORE names several servers/,
    'redis://user:pass-word%ZZ@host': /^POPROOM_STORE has an invalid percent-encoding /,
    'redis://host:99999': /^POPROOM_STORE has a port /,
    'redis://host:0': /^POPROOM_STORE has a port /,
    'redis://user:pass-word@word@host': /^POPROOM_STORE must look like /,
    'redis://:pass-word@host?colour=red': /^POPROOM_STORE has the unknown option "colour"/,
  };
  for (const [address, why] of Object.entries(wrong)) {
    it(`[RUN-1] that is invalid is named with the other settings: ${address}`, () => {
      const { problems } = inspectConfig({ PORT: 'x', POPROOM_STORE: address, POPROOM_SECRET });
      assert.equal(problems.length, 2);
      assert.match(problems[0] ?? '', /^PORT /);
      assert.match(problems[1] ?? '', why);
      assert.ok(!problems.join().includes('pass-word'));
    });
  }

  it('is accepted for one server, Sentinels and a cluster', () => {
    for (const address of ['redis://host', 'rediss://:a%40b@h:1,i:65535?cluster', 'redis://h?sentinel=s']) {
      const { config, problems } = inspectConfig({ POPROOM_STORE: address, POPROOM_SECRET });
      assert.deepEqual([config.store, problems], [address, []]);
    }
  });
});

describe('a URL with a password', () => {
  const addresses = ['POPROOM_S3_ENDPOINT', 'POPROOM_PUBLIC_URL', 'POPROOM_FILES_URL', 'POPROOM_ALLOWED_ORIGINS'];
  for (const name of [...addresses, 'POPROOM_FILES']) {
    it(`[RUN-1] is rejected as ${name}, and not repeated`, () => {
      for (const login of ['user:pass-word', ':pass-word', 'pass-word']) {
        const { problems } = inspectConfig({ [name]: `http://${login}@host` });
        assert.equal(problems.length, 1, login);
        assert.ok(problems[0]?.startsWith(`${name} must `));
        assert.ok(!problems[0]?.includes('pass-word'));
      }
    });
  }

  it('[RUN-1] is the only value that is not repeated', () => {
    const { problems } = inspectConfig({ POPROOM_PUBLIC_URL: 'pop.example.org' });
    assert.match(problems[0] ?? '', /; got "pop\.example\.org"$/);
  });
});

describe('the admin token', () => {
  it('[ADMIN-2] has at least 24 characters, and is not repeated', () => {
    const shortest = '0123456789abcdef01234567';
    assert.equal(inspectConfig({ POPROOM_ADMIN_TOKEN: shortest }).config.adminToken, shortest);
    assert.equal(inspectConfig({ POPROOM_ADMIN_TOKEN: '' }).config.adminToken, undefined);
    const { problems } = inspectConfig({ POPROOM_ADMIN_TOKEN: shortest.slice(1) });
    assert.deepEqual(problems, ['POPROOM_ADMIN_TOKEN must have at least 24 characters']);
  });
});

describe('a lifetime', () => {
  it('[RUN-1] is at most ten years', () => {
    const read = (POPROOM_ROOM_MAX_TTL: string) => inspectConfig({ POPROOM_ROOM_MAX_TTL });
    assert.equal(read('3650d').config.roomMaxTtl, 3650 * 86_400);
    for (const tooLong of ['3651d', '999999999d', '999999999']) {
      assert.match(
        read(tooLong).problems[0] ?? '',
        /^POPROOM_ROOM_MAX_TTL must be a duration from 60 seconds to 3650d, /,
      );
    }
  });
});

describe('who may create rooms', () => {
  it('[CREATE-5] is not open by mistake: a password or a trusted proxy must be there if it is needed', () => {
    const problems = (env: Record<string, string>) => inspectConfig(env).problems;
    const password = { POPROOM_CREATE: 'password', POPROOM_CREATE_PASSWORD: 'ten letter' };
    assert.deepEqual(problems(password), []);
    assert.match(
      problems({ POPROOM_CREATE: 'password' })[0] ?? '',
      /^POPROOM_CREATE=password requires POPROOM_CREATE_P/,
    );
    for (const wrong of ['too short', 'pässword long', 'x'.repeat(201)]) {
      const [problem = '', ...more] = problems({ ...password, POPROOM_CREATE_PASSWORD: wrong });
      assert.match(problem, /^POPROOM_CREATE_PASSWORD must have 10 to 200 characters/);
      assert.ok(more.length === 0 && !problem.includes(wrong));
    }
    assert.match(problems({ ...password, POPROOM_CREATE: 'open' })[0] ?? '', /requires POPROOM_CREATE=password$/);
    const proxy = { POPROOM_CREATE: 'proxy', POPROOM_TRUSTED_PROXIES: '10.0.0.1' };
    assert.deepEqual(problems({ ...proxy, POPROOM_USER_HEADER: 'X-Forwarded-User' }), []);
    assert.match(problems({ POPROOM_CREATE: 'proxy' })[0] ?? '', /^POPROOM_CREATE=proxy requires POPROOM_TRUSTED_PROX/);
    for (const header of ['Cookie', 'Authorization', 'X-Forwarded-For', 'Remote User'])
      assert.match(problems({ ...proxy, POPROOM_USER_HEADER: header })[0] ?? '', /^POPROOM_USER_HEADER must be /);
    assert.match(problems({ POPROOM_CREATE: 'me' })[0] ?? '', /must be open or key or password or proxy; got "me"$/);
  });
});

describe('the work limit', () => {
  it('[SAFE-9] is in milliseconds, and 0 disables it', () => {
    assert.equal(inspectConfig({}).config.workLimit, 6000);
    assert.equal(inspectConfig({ POPROOM_WORK_LIMIT: '0' }).config.workLimit, 0);
    assert.match(inspectConfig({ POPROOM_WORK_LIMIT: '6s' }).problems[0] ?? '', /^POPROOM_WORK_LIMIT must /);
  });
});

describe('the port', () => {
  it('[RUN-19] is POPROOM_PORT or PORT, and the first one if they differ', () => {
    const read = (env: Record<string, string>, port?: string) => {
      const { config, problems, warnings, unknown } = inspectConfig(env, { port });
      return [config.port, ...problems, ...warnings, ...unknown];
    };
    assert.deepEqual(read({ POPROOM_PORT: '9000' }), [9000]);
    assert.deepEqual(read({ PORT: '9000', POPROOM_PORT: ' ' }), [9000]);
    assert.deepEqual(read({ PORT: '9000', POPROOM_PORT: '9000' }), [9000]);
    const both = { PORT: '8000', POPROOM_PORT: '9000' };
    assert.deepEqual(read(both), [9000, 'POPROOM_PORT (9000) and PORT (8000) differ. POPROOM_PORT is used.']);
    assert.deepEqual(read(both, '7000'), [7000]);
    assert.match(String(read({ POPROOM_PORT: 'x' })[1]), /^POPROOM_PORT must be a whole number/);
  });
});

describe('a demonstration', () => {
  it('[DEMO-3] has its own limits by default, accepts stricter ones, and reports all that allow more', () => {
    const { config, problems } = inspectConfig({
      POPROOM_DEMO: 'true',
      POPROOM_ROOM_TTL: '5m',
      POPROOM_FILE_MAX: '9KiB',
    });
    assert.deepEqual(problems, []);
    assert.deepEqual([config.roomTtl, config.roomMaxTtl, config.fileMax, config.roomMaxFiles], [300, 900, 9216, 10]);
    const more = {
      POPROOM_ROOM_MAX_TTL: '16m',
      POPROOM_FILE_MAX: '2MiB',
      POPROOM_CLIENT_MAX_BYTES: '0',
      POPROOM_CONTENT_MAX: 'large',
    };
    assert.deepEqual(inspectConfig({ POPROOM_DEMO: 'true', ...more }).problems, [
      'POPROOM_CONTENT_MAX must be a size, for example 1048576, 512KiB or 1MiB; got "large"',
      'POPROOM_ROOM_MAX_TTL must not exceed 15m with POPROOM_DEMO=true',
      'POPROOM_FILE_MAX must not exceed 1MiB with POPROOM_DEMO=true',
      'POPROOM_CLIENT_MAX_BYTES must not exceed 20MiB with POPROOM_DEMO=true',
    ]);
  });
});

describe('the contact for abuse', () => {
  it('[REPORT-1] is an email address or an https URL', () => {
    const read = (POPROOM_ABUSE_CONTACT: string) => inspectConfig({ POPROOM_ABUSE_CONTACT });
    for (const valid of ['abuse@example.org', 'a.b+c@mail.example.org', 'https://example.org/abuse?from=poproom'])
      assert.equal(read(valid).config.abuseContact, valid);
    for (const invalid of [
      'abuse',
      'http://example.org',
      'javascript:alert(1)',
      'https://me:secret@host',
      'a@b',
      'a b@c.de',
    ])
      assert.match(read(invalid).problems[0] ?? '', /^POPROOM_ABUSE_CONTACT must be an email address or an https URL/);
    assert.ok(!read('https://me:secret@host').problems.join().includes('secret'));
  });
});
