import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Secret} from '../../../../../src/api/types/v1-objects.js';
import {NO_OBJECTS, type ApiObjects} from '../../../../../src/kubelet/contract/api-objects.js';
import {podRef} from '../../../../../src/kubelet/contract/pod-ref.js';
import type {ContainerInstance} from '../../../../../src/kubelet/contract/pod-filesystem.js';
import {aContainerSpec} from '../../../../commands/command-testbed.js';
import {ECHOING_RUNTIME, expectNoSecret} from '../../../../commands/secret-values.js';
import {aLocalPod, startRegistryTestbed} from '../../../pods/registry-testbed.js';
import {syncOnce} from '../../../pods/sync-once.js';

const OLD = 'open sesame';
const NEW = 'close sesame';

test('both values of a Secret that changes while the files of its container are prepared are masked', async () => {
  let value = OLD;
  const secret = (): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'key'},
    data: {key: Buffer.from(value)},
  });
  const objects: ApiObjects = {...NO_OBJECTS, secret};
  const {pods, runtime, events} = await startRegistryTestbed(
    ECHOING_RUNTIME,
    (real) => {
      const prepareContainer = real.prepareContainer.bind(real);
      return Object.assign(real, {
        prepareContainer: async (instance: ContainerInstance) => {
          value = NEW;
          return await prepareContainer(instance);
        },
      });
    },
    objects,
  );
  const env = [{name: 'KEY', valueFrom: {secretKeyRef: {name: 'key', key: 'key'}}}];
  const containers = [aContainerSpec('main', {env, command: ['$(KEY)', OLD]})];

  const {results, status} = await syncOnce(pods.createSyncer(aLocalPod({containers})));

  expect(runtime.callsTo('CreateContainer')).toMatchObject([{request: {config: {command: [NEW, OLD]}}}]);
  const messages = JSON.stringify([
    events.map(({message}) => message),
    results.map(({failure}) => failure?.message),
    status,
  ]);
  expect(messages).toContain('***');
  expectNoSecret(messages, [OLD, NEW]);
});

test('a container that cannot be configured leaves no termination log, however often it is tried', async () => {
  const {pods, runtime, node} = await startRegistryTestbed();
  const containers = [aContainerSpec('main', {securityContext: {runAsNonRoot: true, runAsUser: 0}})];
  const pod = aLocalPod({containers});
  const {results} = await syncOnce(pods.createSyncer(pod));
  expect(results.map(({failure}) => failure?.reason)).toContain('CreateContainerConfigError');
  expect(runtime.callsTo('CreateContainer')).toEqual([]);
  const directory = join(node.rootDir, 'pods', podRef(pod).uid);
  expect(await readdir(directory)).not.toContain('containers');
});
