import {describe, expect, test} from 'vitest';
import {imageRef} from '../../../../../src/cri/index.js';
import type {NodeFacts} from '../../../../../src/kubelet/contract/node-facts.js';
import type {IdMapping} from '../../../../../src/kubelet/contract/pod-filesystem.js';
import {generateContainerConfig} from '../../../../../src/kubelet/managers/kuberuntime/config/container-config.js';
import {generatePodSandboxConfig} from '../../../../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {ensureUserNamespaceMappings} from '../../../../../src/kubelet/managers/kuberuntime/config/user-namespace-mappings.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {NO_REFERENCES} from './no-references.js';

const IDS: IdMapping = {hostId: 131_072, containerId: 0, length: 65_536};
const files = {userNamespace: async () => IDS};

function nodeWith(handlers: Readonly<Record<string, boolean>>): NodeFacts {
  const features = Object.entries(handlers).map(
    ([name, userNamespaces]) => [name, {userNamespaces, recursiveReadOnlyMounts: false}] as const,
  );
  return {...GOLDEN_NODE, runtime: {...GOLDEN_NODE.runtime, handlers: new Map(features)}};
}

describe('the user namespace of a pod', () => {
  test.each([undefined, true])('is that of the host with hostUsers %s', async (hostUsers) => {
    const pod = aPod(hostUsers === undefined ? {} : {hostUsers});

    expect(await ensureUserNamespaceMappings(pod, '', {node: nodeWith({}), files})).toBeUndefined();
  });

  // Proves: PodSpec.hostUsers
  test('has its own mappings if the runtime handler supports user namespaces', async () => {
    const node = nodeWith({'': false, sandboxed: true});

    expect(await ensureUserNamespaceMappings(aPod({hostUsers: false}), 'sandboxed', {node, files})).toEqual(
      IDS,
    );
  });

  test.each<[string, Readonly<Record<string, boolean>>, string]>([
    ['', {'': false}, "can't set `spec.hostUsers: false`, runtime does not support user namespaces"],
    [
      '',
      {},
      'can\'t set `spec.hostUsers: false`, runtime does not support user namespaces: the handler "" is not known',
    ],
    [
      'kata',
      {'': true, kata: false},
      'can\'t set `spec.hostUsers: false`, RuntimeClass handler "kata" does not support user namespaces',
    ],
  ])('is rejected with the handler %j and the node’s handlers %j', async (handler, handlers, problem) => {
    const mappings = ensureUserNamespaceMappings(aPod({hostUsers: false}), handler, {
      node: nodeWith(handlers),
      files,
    });

    await expect(mappings).rejects.toMatchObject({code: 'POD_SANDBOX_CONFIG', message: problem});
  });
});

test('the ID mappings are set on the sandbox, the containers and all mounts', () => {
  const mounting = aContainer({volumeMounts: [{name: 'v', mountPath: '/v'}]});
  const pod = aPod({hostUsers: false, containers: [mounting], volumes: [{name: 'v', emptyDir: {}}]});
  const container = pod.spec.containers[0]!;
  const usernsOptions = {mode: 'POD', uids: [IDS], gids: [IDS]};

  const sandbox = generatePodSandboxConfig(pod, GOLDEN_NODE, 0, {userNamespace: IDS});
  const {linux, mounts} = generateContainerConfig({
    ...NO_REFERENCES,
    pod,
    container,
    restartCount: 0,
    imageRef: imageRef('sha256:1'),
    imageUser: {uid: 0n},
    podIps: [],
    volumes: new Map([['v', {hostPath: '/data', readOnly: false}]]),
    node: GOLDEN_NODE,
    granted: {},
    userNamespace: IDS,
    hostsPath: '/hosts',
    terminationLogPath: '/log',
    subPathTargets: new Map(),
  });

  expect(sandbox.linux?.securityContext?.namespaceOptions?.usernsOptions).toEqual(usernsOptions);
  expect(linux?.securityContext?.namespaceOptions?.usernsOptions).toEqual(usernsOptions);
  expect(mounts).toHaveLength(3);
  for (const mount of mounts ?? []) expect(mount).toMatchObject({uidMappings: [IDS], gidMappings: [IDS]});
});
