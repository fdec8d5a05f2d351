import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {FakeRuntime, anImage} from '../../fakes/fake-runtime.js';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

let home: string;
beforeEach(async () => {
  home = await temporaryDirectory();
});

function writeHomeFile(path: string, content: object | string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), {recursive: true});
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Creates a credential helper that answers from a table and logs its calls. */
function createHelper(name: string, responses: Readonly<Record<string, object>>): void {
  const file = writeHomeFile(
    `bin/docker-credential-${name}`,
    `#!${process.execPath}\n` +
      `const input = require('fs').readFileSync(0, 'utf8');\n` +
      `require('fs').appendFileSync(${JSON.stringify(join(home, 'calls'))}, JSON.stringify([process.argv.slice(2), input]));\n` +
      `const answer = ${JSON.stringify(responses)}[input];\n` +
      `if (answer === undefined) { console.log('credentials not found in native keychain'); process.exit(1); }\n` +
      `console.log(JSON.stringify(answer));\n`,
  );
  chmodSync(file, 0o755);
}

interface PullResult extends RunResult {
  readonly auth: unknown;
}

async function pull(
  image: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  await using runtime = await FakeRuntime.start();
  runtime.publishImage(anImage({name: image}));
  const result = await runKcri(['pull', ...flags, image], {
    endpoint: runtime.endpoint,
    env: {HOME: home, PATH: join(home, 'bin'), ...env},
  });
  const [call] = runtime.callsTo('PullImage');
  const {auth = null} = (call?.request ?? {}) as {auth?: Readonly<Record<string, unknown>> | null};
  const expected = Object.entries(auth ?? {}).filter(([, value]) => value !== '');
  return {...result, auth: auth === null ? undefined : Object.fromEntries(expected)} satisfies PullResult;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ALICE = {username: 'alice', password: 'se:cret'};
const ALICE_ENTRY = {auth: base64('alice:se:cret')};

describe("docker's config.json", () => {
  test.each([
    ['registry.example/app:1', 'registry.example'],
    ['registry.example/app:1', 'https://registry.example'],
    ['registry.example/app:1', 'https://registry.example/v2/'],
    ['registry.example/app:1', 'registry.example/app'],
    ['registry.example/team/app:1', 'registry.example/team'],
    ['eu.registry.example/app:1', '*.registry.example'],
    ['localhost:5000/app:1', 'localhost:5000'],
    ['127.0.0.1:5000/app:1', 'http://127.0.0.1:5000'],
    ['docker.io/library/busybox:1', 'https://index.docker.io/v1/'],
    ['busybox:1', 'https://index.docker.io/v1/'],
    ['busybox:1', 'docker.io'],
    ['team/app:1', 'index.docker.io/team'],
  ])('for %s has the entry %s', async (image, key) => {
    writeHomeFile('.docker/config.json', {auths: {[key]: ALICE_ENTRY}});
    expect(await pull(image)).toMatchObject({auth: ALICE, stderr: '', exitCode: 0});
  });

  test.each([
    ['registry.example/app:1', 'other.example'],
    ['registry.example/app:1', 'registry.example:5000'],
    ['registry.example:5000/app:1', 'registry.example'],
    ['registry.example/teams/app:1', 'registry.example/team'],
    ['a.b.registry.example/app:1', '*.registry.example'],
    ['registry.example/app:1', 'https://index.docker.io/v1/'],
  ])('for %s has no match in the entry %s', async (image, key) => {
    writeHomeFile('.docker/config.json', {auths: {[key]: ALICE_ENTRY}});
    expect(await pull(image)).toMatchObject({auth: undefined, stderr: '', exitCode: 0});
  });

  test('the longest path takes precedence, and a host over a pattern', async () => {
    const entry = (name: string) => ({auth: base64(`${name}:x`)});
    writeHomeFile('.docker/config.json', {
      auths: {'*.example': entry('any'), 'r.example': entry('host'), 'r.example/team': entry('team')},
    });
    expect((await pull('r.example/team/app:1')).auth).toMatchObject({username: 'team'});
    expect((await pull('r.example/app:1')).auth).toMatchObject({username: 'host'});
    expect((await pull('q.example/app:1')).auth).toMatchObject({username: 'any'});
  });

  test.each([
    [{auth: base64('u:'), identitytoken: 'idt'}, {identity_token: 'idt'}],
    [{registrytoken: 'rt'}, {registry_token: 'rt'}],
    [
      {username: 'u', password: 'p'},
      {username: 'u', password: 'p'},
    ],
    [{}, undefined],
    [{auth: '!!'}, undefined],
  ])('the entry %j is read as %j', async (entry, auth) => {
    writeHomeFile('.docker/config.json', {auths: {'r.example': entry}});
    expect((await pull('r.example/app:1')).auth).toEqual(auth);
  });

  test("is found through $DOCKER_CONFIG, --auth-file, $REGISTRY_AUTH_FILE and podman's paths", async () => {
    const file = writeHomeFile('elsewhere/config.json', {auths: {'r.example': ALICE_ENTRY}});
    const runDirectory = dirname(
      dirname(writeHomeFile('run/containers/auth.json', {auths: {'r.example': ALICE_ENTRY}})),
    );
    const image = 'r.example/app:1';
    expect((await pull(image)).auth).toBeUndefined();
    expect((await pull(image, [], {DOCKER_CONFIG: dirname(file)})).auth).toEqual(ALICE);
    expect((await pull(image, [], {REGISTRY_AUTH_FILE: file})).auth).toEqual(ALICE);
    expect((await pull(image, ['--auth-file', file])).auth).toEqual(ALICE);
    expect((await pull(image, [], {XDG_RUNTIME_DIR: runDirectory})).auth).toEqual(ALICE);
  });

  test('is not used with credential flags, --no-auth-file, or as crictl', async () => {
    writeHomeFile('.docker/config.json', {auths: {'r.example': ALICE_ENTRY}});
    const image = 'r.example/app:1';
    expect((await pull(image, ['--creds', 'bob:b'])).auth).toEqual({username: 'bob', password: 'b'});
    expect((await pull(image, [], {CRICTL_AUTH: base64('bob:b')})).auth).toEqual({auth: base64('bob:b')});
    expect((await pull(image, ['--no-auth-file'])).auth).toBeUndefined();
    expect((await pull(image, [], {KCRI_COMPAT: 'crictl'})).auth).toBeUndefined();
  });

  test('that is invalid is a warning without its content, and an error if given explicitly', async () => {
    const file = writeHomeFile('.docker/config.json', '{"auths": {"r.example": {"auth": top-secret}}}');
    const byDefault = await pull('r.example/app:1');
    expect(byDefault).toMatchObject({auth: undefined, exitCode: 0});
    expect(byDefault.stderr).toContain(`kcri: warning: cannot read credentials in "${file}": not JSON`);
    const explicit = await pull('r.example/app:1', ['--auth-file', file]);
    expect(explicit).toMatchObject({auth: undefined, stdout: '', exitCode: 1});
    expect(byDefault.stderr + explicit.stderr).not.toContain('top-secret');
    expect((await pull('r.example/app:1', ['--auth-file', join(home, 'none')])).exitCode).toBe(1);
  });
});

describe('credential helpers', () => {
  test('the credential store is called with the registry on standard input', async () => {
    createHelper('store', {'r.example': {Username: 'alice', Secret: 'se:cret'}});
    writeHomeFile('.docker/config.json', {credsStore: 'store', auths: {'r.example': {}}});
    expect(await pull('r.example/app:1')).toMatchObject({auth: ALICE, stderr: '', exitCode: 0});
    const {readFileSync} = await import('node:fs');
    expect(readFileSync(join(home, 'calls'), 'utf8')).toBe('[["get"],"r.example"]');
  });

  test('Docker Hub is requested by its old URL, and a token is an identity token', async () => {
    createHelper('store', {'https://index.docker.io/v1/': {Username: '<token>', Secret: 'idt'}});
    writeHomeFile('.docker/config.json', {credsStore: 'store'});
    expect((await pull('busybox:1')).auth).toEqual({identity_token: 'idt'});
  });

  test("the registry's helper takes precedence over the store and the file", async () => {
    createHelper('own', {'r.example': {Username: 'own', Secret: 'x'}});
    createHelper('store', {'q.example': {Username: 'store', Secret: 'x'}});
    writeHomeFile('.docker/config.json', {
      credHelpers: {'r.example': 'own'},
      credsStore: 'store',
      auths: {'p.example': ALICE_ENTRY},
    });
    expect((await pull('r.example/app:1')).auth).toMatchObject({username: 'own'});
    expect((await pull('q.example/app:1')).auth).toMatchObject({username: 'store'});
    expect((await pull('p.example/app:1')).auth).toEqual(ALICE);
  });

  test('a missing or invalid helper is a warning without its output', async () => {
    writeHomeFile('.docker/config.json', {
      credHelpers: {'r.example': 'none', 'q.example': 'odd', 'p.example': '../odd'},
    });
    chmodSync(writeHomeFile('bin/docker-credential-odd', `#!/bin/sh\necho top-secret\n`), 0o755);
    const [missing, invalid, path] = [
      await pull('r.example/app:1'),
      await pull('q.example/app:1'),
      await pull('p.example/app:1'),
    ];
    expect(missing.stderr).toMatch(
      /^kcri: warning: cannot run credential helper docker-credential-none: no such/,
    );
    expect(invalid.stderr).toBe(
      'kcri: warning: the output of credential helper docker-credential-odd is not JSON\n',
    );
    expect(path.stderr).toBe('kcri: warning: "../odd" is not a valid name of a credential helper\n');
    expect([missing.exitCode, invalid.exitCode, path.exitCode]).toEqual([0, 0, 0]);
  });
});
