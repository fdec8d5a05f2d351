import {describe, expect, test} from 'vitest';
import type {Secret} from '../../../../src/api/types/v1-objects.js';
import {NodeCredentials} from '../../../../src/kubelet/managers/images/credentials/node-credentials.js';
import {
  APP,
  aRuntime,
  createImageFixture,
  aSecret,
  reasonOf,
  pullError,
  withSecrets,
  type Auth,
} from './image-fixture.js';

describe('credentials', () => {
  const onlyFor = (name: string) => (_: string, auth: Auth | undefined) => {
    if (auth?.username !== name) throw pullError('UNKNOWN', `${auth?.username ?? 'anonymous'} is denied`);
  };

  test('are tried in turn until one succeeds, and a pull without any is anonymous', async () => {
    const fixture = await createImageFixture(aRuntime(onlyFor('bob')));
    const pullSecrets = withSecrets(aSecret('a', 'alice'), aSecret('b', 'bob'), aSecret('c', 'carol'));
    expect(reasonOf(await fixture.ensure({pullSecrets}))).toBe(`sha256:${APP}`);
    expect(fixture.calls.filter((call) => call.startsWith('Pull'))).toEqual([
      `PullImage ${APP} alice`,
      `PullImage ${APP} bob`,
    ]);
    await fixture.ensure({pullPolicy: 'Always', image: 's.example/app', pullSecrets});
    expect(fixture.calls.at(-1)).toBe('PullImage s.example/app:latest');
  });

  test('that all fail are reported together, each message once', async () => {
    const fixture = await createImageFixture(aRuntime(onlyFor('nobody')));
    const message = '[alice is denied, bob is denied]';
    const pullSecrets = withSecrets(
      aSecret('a', 'alice', 'topsecret'),
      aSecret('b', 'bob'),
      aSecret('c', 'alice'),
    );
    const result = await fixture.ensure({pullSecrets});
    expect(result).toMatchObject({failure: {reason: 'ErrImagePull', message}});
    expect(JSON.stringify([result, fixture.eventLines()])).not.toContain('topsecret');
  });

  test('that are not a docker config are reported in the hint, and an invalid config is an error', async () => {
    const fixture = await createImageFixture(aRuntime(onlyFor('alice')));
    const plain: Secret = {...aSecret('plain', 'alice'), type: 'Opaque'};
    expect(await fixture.ensure({pullSecrets: withSecrets(plain)})).toMatchObject({
      failure: {
        cause: {
          hint: expect.stringContaining(
            'the Secret "default/plain" of type "Opaque" contains no docker config',
          ) as string,
        },
      },
    });
    const broken: Secret = {
      ...aSecret('broken', 'alice'),
      data: {'.dockerconfigjson': Buffer.from('topsecret')},
    };
    expect(await fixture.ensure({image: 'r.example/other', pullSecrets: withSecrets(broken)})).toMatchObject({
      failure: {
        reason: 'ErrImagePull',
        message: 'the Secret "default/broken": error occurred while trying to unmarshal json',
      },
    });
  });

  test('decide which pods may use an image without a pull', async () => {
    const fixture = await createImageFixture(aRuntime(onlyFor('alice')));
    const alice = withSecrets(aSecret('a', 'alice'));
    await fixture.ensure({pullSecrets: alice});
    const reasons: string[] = [];
    for (const pullSecrets of [alice, withSecrets(), withSecrets(aSecret('b', 'bob'))])
      reasons.push(reasonOf(await fixture.ensure({pullSecrets, pullPolicy: 'Never'})));
    expect(reasons).toEqual([`sha256:${APP}`, 'ErrImageNeverPull', 'ErrImageNeverPull']);
    expect(fixture.eventLines().at(-1)).toMatch(/is not present with pull policy of Never$/);
    expect(reasonOf(await fixture.ensure({pullSecrets: withSecrets(aSecret('b', 'bob'))}))).toBe(
      'ErrImagePull',
    );
  });

  test('are ignored under NeverVerify', async () => {
    const fixture = await createImageFixture(aRuntime(onlyFor('alice')), {
      verification: {kind: 'NeverVerify'},
    });
    await fixture.ensure({pullSecrets: withSecrets(aSecret('a', 'alice'))});
    expect(reasonOf(await fixture.ensure({pullPolicy: 'Never'}))).toBe(`sha256:${APP}`);
  });
});

test("the node's credentials are tried after the pod's", async () => {
  const node = {
    read: () =>
      Promise.resolve({
        config: new Map([['r.example', {username: 'node', password: 's', email: ''}]]),
        problems: [],
      }),
  };
  const provider = {
    provide: () =>
      Promise.resolve({config: new Map([['r.example', {username: 'plugin', password: 's', email: ''}]])}),
  };
  const failing = {provide: () => Promise.resolve({problem: 'the provider failed'})};
  const runtime = aRuntime(() => {
    throw pullError('UNKNOWN', 'no');
  });
  const credentials = new NodeCredentials(node, [provider, failing]);
  const fixture = await createImageFixture(runtime, {credentials});
  expect(await fixture.ensure({pullSecrets: withSecrets(aSecret('a', 'pod'))})).toMatchObject({
    failure: {message: 'no', cause: {hint: expect.stringContaining('the provider failed') as string}},
  });
  expect(fixture.calls.filter((call) => call.startsWith('Pull'))).toEqual([
    `PullImage ${APP} pod`,
    `PullImage ${APP} node`,
    `PullImage ${APP} plugin`,
  ]);
});
