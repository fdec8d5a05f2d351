import {describe, expect, test} from 'vitest';
import type {Secret} from '../../../src/api/v1-objects.js';
import {NodeCredentials} from '../../../src/kubelet/images/credentials/node-credentials.js';
import {APP, aRuntime, aScene, aSecret, reasonOf, refused, withSecrets, type Auth} from './image-scene.js';

describe('credentials', () => {
  const onlyFor = (name: string) => (_: string, auth: Auth | undefined) => {
    if (auth?.username !== name) throw refused('UNKNOWN', `${auth?.username ?? 'nobody'} is not let in`);
  };

  test('are tried in turn until one lets in, and the pull is without when there are none', async () => {
    const scene = await aScene(aRuntime(onlyFor('bob')));
    const pullSecrets = withSecrets(aSecret('a', 'alice'), aSecret('b', 'bob'), aSecret('c', 'carol'));
    expect(reasonOf(await scene.ensure({pullSecrets}))).toBe(`sha256:${APP}`);
    expect(scene.calls.filter((call) => call.startsWith('Pull'))).toEqual([
      `PullImage ${APP} alice`,
      `PullImage ${APP} bob`,
    ]);
    await scene.ensure({pullPolicy: 'Always', image: 's.example/app', pullSecrets});
    expect(scene.calls.at(-1)).toBe('PullImage s.example/app:latest');
  });

  test('that all fail are told of together, each text once', async () => {
    const scene = await aScene(aRuntime(onlyFor('nobody')));
    const message = '[alice is not let in, bob is not let in]';
    const pullSecrets = withSecrets(
      aSecret('a', 'alice', 'topsecret'),
      aSecret('b', 'bob'),
      aSecret('c', 'alice'),
    );
    const outcome = await scene.ensure({pullSecrets});
    expect(outcome).toMatchObject({failure: {reason: 'ErrImagePull', message}});
    expect(JSON.stringify([outcome, scene.said()])).not.toContain('topsecret');
  });

  test('that are broken or no docker config are told of in the hint', async () => {
    const scene = await aScene(aRuntime(onlyFor('alice')));
    const plain: Secret = {...aSecret('plain', 'alice'), type: 'Opaque'};
    expect(await scene.ensure({pullSecrets: withSecrets(plain)})).toMatchObject({
      failure: {
        cause: {
          hint: expect.stringContaining(
            'the Secret "default/plain" of type "Opaque" holds no docker config',
          ) as string,
        },
      },
    });
    const broken: Secret = {
      ...aSecret('broken', 'alice'),
      data: {'.dockerconfigjson': Buffer.from('topsecret')},
    };
    expect(await scene.ensure({image: 'r.example/other', pullSecrets: withSecrets(broken)})).toMatchObject({
      failure: {
        reason: 'ErrImagePull',
        message: 'the Secret "default/broken": error occurred while trying to unmarshal json',
      },
    });
  });

  test('decide who may use an image without a pull', async () => {
    const scene = await aScene(aRuntime(onlyFor('alice')));
    const alice = withSecrets(aSecret('a', 'alice'));
    await scene.ensure({pullSecrets: alice});
    const reasons: string[] = [];
    for (const pullSecrets of [alice, withSecrets(), withSecrets(aSecret('b', 'bob'))])
      reasons.push(reasonOf(await scene.ensure({pullSecrets, pullPolicy: 'Never'})));
    expect(reasons).toEqual([`sha256:${APP}`, 'ErrImageNeverPull', 'ErrImageNeverPull']);
    expect(scene.said().at(-1)).toMatch(/is not present with pull policy of Never$/);
    expect(reasonOf(await scene.ensure({pullSecrets: withSecrets(aSecret('b', 'bob'))}))).toBe(
      'ErrImagePull',
    );
  });

  test('count for nothing under NeverVerify', async () => {
    const scene = await aScene(aRuntime(onlyFor('alice')), {verification: {kind: 'NeverVerify'}});
    await scene.ensure({pullSecrets: withSecrets(aSecret('a', 'alice'))});
    expect(reasonOf(await scene.ensure({pullPolicy: 'Never'}))).toBe(`sha256:${APP}`);
  });
});

test("the node's credentials come after the pod's own", async () => {
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
  const failing = {provide: () => Promise.resolve({problem: 'the provider was no help'})};
  const runtime = aRuntime(() => {
    throw refused('UNKNOWN', 'no');
  });
  const credentials = new NodeCredentials(node, [provider, failing]);
  const scene = await aScene(runtime, {credentials});
  expect(await scene.ensure({pullSecrets: withSecrets(aSecret('a', 'pod'))})).toMatchObject({
    failure: {message: 'no', cause: {hint: expect.stringContaining('the provider was no help') as string}},
  });
  expect(scene.calls.filter((call) => call.startsWith('Pull'))).toEqual([
    `PullImage ${APP} pod`,
    `PullImage ${APP} node`,
    `PullImage ${APP} plugin`,
  ]);
});
