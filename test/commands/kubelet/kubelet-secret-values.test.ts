import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import type {FakeRuntimeOptions} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest} from '../command-testbed.js';
import {aSecret, ECHOING_RUNTIME, expectNoSecret, readStoredState} from '../secret-values.js';
import {startKubelet, describeUntil, type KubeletTestbed} from './kubelet-testbed.js';

const OLD = 'open "sesame"';
const NEW = 'close sesame';
const VALUES = [OLD, NEW];

/** A pod with the value of a Secret in its environment. */
function withSecret(fields: object = {}): string {
  const env = [{name: 'KEY', valueFrom: {secretKeyRef: {name: 'key', key: 'key'}}}];
  const containers = [aContainerSpec('main', {env, ...fields})];
  return aManifest({metadata: {uid: 'web-uid'}, containers});
}

/** Resolves with everything that kcri prints and stores about the pod. */
async function everythingAbout(kubelet: KubeletTestbed): Promise<string> {
  const commands = [
    ['get', 'pods', '-o', 'json'],
    ['get', 'pods', '-o', 'wide'],
    ['get', 'kubelet', '-o', 'json'],
    ['describe', 'web-n1'],
  ];
  const results = await Promise.all(commands.map(async (words) => kubelet.run(words)));
  for (const {exitCode, stderr} of results) expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
  return [...results.map(({stdout}) => stdout), await readStoredState(kubelet.testbed), kubelet.log()].join(
    '\n',
  );
}

const REPEATS: readonly (readonly [
  what: string,
  runtime: FakeRuntimeOptions,
  fields: object,
  event: RegExp,
])[] = [
  ['a container that fails to start', ECHOING_RUNTIME, {command: ['$(KEY)']}, /Failed +.*\*\*\*/],
  [
    'a failed postStart hook',
    {exec: () => ({exitCode: 1, stdout: `the key ${OLD}`})},
    {lifecycle: {postStart: {exec: {command: ['check']}}}},
    // The output is in the log; describe shows it until the next error only.
    /FailedPostStartHook +/,
  ],
  [
    'a failed probe',
    {exec: () => ({exitCode: 1, stdout: `the key ${OLD}`})},
    {readinessProbe: {exec: {command: ['check']}, periodSeconds: 1}},
    /Unhealthy +.*\*\*\*/,
  ],
];

test.each(REPEATS)(
  'the kubelet neither logs nor stores a Secret that the runtime repeats for %s',
  async (_, runtime, fields, shown) => {
    const kubelet = await startKubelet({runtime, verbosity: 9});
    await kubelet.writeManifest('key.yaml', aSecret('key', {key: OLD}));
    await kubelet.writeManifest('web.yaml', withSecret(fields));
    await describeUntil(kubelet, 'web-n1', shown);
    const text = await everythingAbout(kubelet);
    expect(text).toContain('***');
    expectNoSecret(text, VALUES);
  },
);

test('the previous value of a Secret stays masked, also after a restart of the kubelet', async () => {
  const kubelet = await startKubelet({runtime: ECHOING_RUNTIME, verbosity: 9});
  const writeSecret = async (key: string) => kubelet.writeManifest('key.yaml', aSecret('key', {key}));
  // The number of existing containers does not grow: the kubelet soon removes all but the newest.
  const created = async (value: string) =>
    until(() =>
      kubelet.testbed.runtime
        .callsTo('CreateContainer')
        .some(({request}) => JSON.stringify(request).includes(JSON.stringify(value))),
    );
  await writeSecret(OLD);
  await kubelet.writeManifest('web.yaml', withSecret({command: ['$(KEY)']}));
  await created(OLD);
  await writeSecret(NEW);
  await created(NEW);
  expectNoSecret(await everythingAbout(kubelet), VALUES);

  await kubelet.stop();
  await writeSecret('another');
  kubelet.start();
  await created('another');
  expectNoSecret(await everythingAbout(kubelet), [...VALUES, 'another']);
});
