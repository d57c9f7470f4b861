/** The check that a release keeps the API of the one before. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { breakingChanges } from '../../scripts/check-api-changes.ts';

const script = fileURLToPath(new URL('../../scripts/check-api-changes.ts', import.meta.url));
const committed = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: the tests change the document at many depths
type Node = any;

/** The output of the check for a change of the document. */
function changesAfter(change: (document: Node) => void): string[] {
  const after = JSON.parse(committed);
  change(after);
  return breakingChanges(JSON.parse(committed), after);
}

const content = '/api/rooms/{roomId}/content';

describe('a change of the API', () => {
  const breaking: [what: string, change: (document: Node) => void, expected: RegExp][] = [
    [
      'a removed path',
      ({ paths }) => delete paths[content],
      /^\/api\/rooms\/\{roomId\}\/content: the path was removed/,
    ],
    ['a removed operation', ({ paths }) => delete paths[content].patch, /^PATCH .*: the operation was removed/],
    [
      'a removed response',
      ({ paths }) => delete paths[content].get.responses[304],
      /^GET .*: the response 304 was removed/,
    ],
    [
      'a removed type of a response',
      ({ paths }) => delete paths[content].get.responses[200].content['text/plain'],
      /no longer has the type text\/plain/,
    ],
    [
      'a removed header',
      ({ paths }) => delete paths[content].get.responses[200].headers.ETag,
      /no longer has the header "ETag"/,
    ],
    [
      'a removed field of a response',
      ({ components }) => delete components.schemas.ContentRead.properties.version,
      /the response 200 no longer has "version"/,
    ],
    [
      'a removed field inside of a list',
      ({ components }) => delete components.schemas.FileEntry.properties.fileUrl,
      /an item of "files" of the response 200 no longer has "fileUrl"/,
    ],
    [
      'a field of a response that may be missing',
      ({ components }) => components.schemas.ContentRead.required.pop(),
      /may now lack "timestamp"/,
    ],
    [
      'a field of a response with a further type',
      ({ components }) => {
        components.schemas.ContentRead.properties.version.type = ['integer', 'null'];
      },
      /"version" of the response 200 can now be of type null/,
    ],
    [
      'a newly required field of a request',
      ({ components }) => {
        components.schemas.CreateRoomRequest.required = ['name'];
      },
      /the body now requires "name"/,
    ],
    [
      'a removed field of a request',
      ({ components }) => delete components.schemas.CreateRoomRequest.properties.history,
      /the body no longer takes "history"/,
    ],
    [
      'a narrower type of a request',
      ({ components }) => {
        components.schemas.CreateRoomRequest.properties.name.type = 'string';
      },
      /"name" of the body no longer takes a value of type null/,
    ],
    [
      'a narrower list of values',
      ({ components }) => components.schemas.UploadForm.properties.once.enum.pop(),
      /"once" of the body no longer takes "false"/,
    ],
    [
      'a stricter bound',
      ({ components }) => {
        components.schemas.CreateRoomRequest.properties.expiresIn.minimum = 120;
      },
      /"expiresIn" of the body has a stricter "minimum"/,
    ],
    [
      'a newly required parameter',
      ({ components }) => {
        components.parameters.deviceId.required = true;
      },
      /the header parameter "X-Device-Id" is now required/,
    ],
    [
      'a removed parameter',
      ({ paths }) => paths[content].get.parameters.pop(),
      /^GET .*: the \w+ parameter "[\w-]+" was removed/,
    ],
    [
      'a body that is now required',
      ({ paths }) => {
        paths['/api/rooms'].post.requestBody.required = true;
      },
      /the body is now required/,
    ],
  ];
  for (const [what, change, expected] of breaking) {
    it(`[API-14] that is ${what} is reported`, () => {
      const changes = changesAfter(change);
      assert.ok(
        changes.some((text) => expected.test(text)),
        changes.join('\n') || 'nothing was reported',
      );
    });
  }

  it('[API-14] that only adds is not reported', () => {
    const changes = changesAfter(({ paths, components }) => {
      const { schemas } = components;
      paths['/api/new'] = { get: { responses: {} } };
      paths[content].get.parameters.push({ name: 'new', in: 'query', required: false, schema: { type: 'string' } });
      paths[content].get.responses[418] = { description: 'new', headers: {} };
      schemas.ContentRead.properties.added = { type: 'string' };
      schemas.ContentRead.required.push('added');
      schemas.CreateRoomRequest.properties.added = { type: 'string' };
      schemas.CreateRoomRequest.properties.expiresIn.minimum = 1;
      schemas.ErrorCode.enum.push('NEW_CODE');
    });
    assert.deepEqual(changes, []);
  });
});

describe('the check of a release', () => {
  it('[API-14] compares with the last release, and says if there is none', (t) => {
    const folder = createRepository(t);
    assert.deepEqual(check(folder), [0, 'There is no earlier release, so there is no API to compare with.\n']);
    tag(folder, 'v1.2.0');
    tag(folder, 'v1.10.0');
    commit(folder, (document) => delete document.paths['/api/limits']);
    const [status, output] = check(folder);
    assert.equal(status, 1);
    assert.match(output, /\/api\/limits: the path was removed\.\nThese changes break clients of v1\.10\.0\./);
    // A release is compared with the one before it, not with itself.
    tag(folder, 'v2.0.0');
    assert.equal(check(folder)[0], 1);
    commit(folder, () => undefined);
    assert.deepEqual(check(folder), [0, 'The API has everything that clients of v2.0.0 use.\n']);
  });

  it('[API-14] compares with a file or a tag that is named', (t) => {
    const folder = createRepository(t);
    tag(folder, 'v1.0.0');
    writeFileSync(join(folder, 'earlier.json'), committed);
    commit(folder, (document) => delete document.paths['/api/limits']);
    for (const earlier of ['earlier.json', 'v1.0.0']) {
      const [status, output] = check(folder, earlier);
      assert.equal(status, 1);
      assert.ok(output.includes(`break clients of ${earlier}`), output);
    }
  });
});

function createRepository(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'poproom-api-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'openapi.json'), committed);
  git(folder, 'init', '--quiet');
  commit(folder, () => undefined);
  return folder;
}

function commit(folder: string, change: (document: Node) => void): void {
  const document = JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8'));
  change(document);
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  git(folder, 'add', 'openapi.json');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'change');
}

const tag = (folder: string, name: string) => git(folder, 'tag', name);

function git(folder: string, ...args: string[]): void {
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...author, ...args], { cwd: folder });
}

function check(folder: string, ...args: string[]): [status: number | null, output: string] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8' });
  return [status, stdout + stderr];
}
