import {describe, expect, test} from 'vitest';
import {podSandboxId} from '../../../../../src/cri/index.js';
import {
  containerAnnotations,
  containerLabels,
  parseContainerStatus,
  sandboxLabels,
} from '../../../../../src/kubelet/managers/kuberuntime/config/labels.js';
import {aContainer, aPod, UID} from '../../../../fakes/a-pod.js';
import {anInstance} from '../../../../fakes/a-runtime-pod.js';

const IDENTITY = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.uid': UID,
};

describe('labels', () => {
  const pod = aPod({}, {labels: {app: 'x', 'io.kubernetes.pod.name': 'other'}});

  // Proves: ObjectMeta.labels
  test('of a sandbox are those of the Pod, overridden by the pod identity', () => {
    expect(sandboxLabels(pod)).toEqual({app: 'x', ...IDENTITY});
  });

  test('of a container are the pod identity and the container name', () => {
    expect(containerLabels(pod, 'main')).toEqual({...IDENTITY, 'io.kubernetes.container.name': 'main'});
  });
});

describe('container annotations', () => {
  test('have the fields that are needed without the Pod', () => {
    const pod = aPod({terminationGracePeriodSeconds: 5}, {deletionGracePeriodSeconds: 3});

    expect(containerAnnotations(pod, pod.spec.containers[0]!, 4)).toEqual({
      'io.kubernetes.container.hash': expect.stringMatching(/^[0-9a-f]+$/) as string,
      'io.kubernetes.container.restartCount': '4',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.deletionGracePeriod': '3',
      'io.kubernetes.pod.terminationGracePeriod': '5',
    });
  });

  // Proves: ContainerPort.hostIP, ContainerPort.protocol
  test('have the ports as Go marshals them, in any order of fields', () => {
    const ports = [
      {protocol: 'UDP', hostIP: '127.0.0.1', containerPort: 53, hostPort: 38_053, name: 'dns'},
      {containerPort: 9000, protocol: 'TCP', hostPort: 0},
    ] as const;

    expect(containerAnnotations(aPod(), aContainer({ports}), 0)['io.kubernetes.container.ports']).toBe(
      '[{"name":"dns","hostPort":38053,"containerPort":53,"protocol":"UDP","hostIP":"127.0.0.1"},{"containerPort":9000,"protocol":"TCP"}]',
    );
  });

  // Proves: HTTPGetAction.httpHeaders, HTTPGetAction.scheme
  test('have the preStop hook as Go marshals it', () => {
    const lifecycle = {
      preStop: {
        httpGet: {
          scheme: 'HTTP',
          port: 8080,
          path: '/<bye>',
          host: '',
          httpHeaders: [{value: 'v', name: 'n'}],
        },
      },
    } as const;

    expect(
      containerAnnotations(aPod(), aContainer({lifecycle}), 0)['io.kubernetes.container.preStopHandler'],
    ).toBe(
      '{"httpGet":{"path":"/\\u003cbye\\u003e","port":8080,"scheme":"HTTP","httpHeaders":[{"name":"n","value":"v"}]}}',
    );
  });
});

describe('a parsed container status', () => {
  const sandbox = podSandboxId('s');
  const {cri} = anInstance('main', 'CONTAINER_RUNNING');

  test('has the restart count and hash from the annotations', () => {
    const pod = aPod();
    const labels = containerLabels(pod, 'main');
    const annotations = containerAnnotations(pod, pod.spec.containers[0]!, 7);

    expect(parseContainerStatus({...cri, labels, annotations}, sandbox)).toMatchObject({
      name: 'main',
      sandboxId: 's',
      state: 'CONTAINER_RUNNING',
      restartCount: 7,
      hash: annotations['io.kubernetes.container.hash'],
    });
  });

  test.each(['-1', 'many', '1e3', '99999999999999999999'])(
    'has the restart count 0 for the annotation "%s"',
    (text) => {
      const annotations = {'io.kubernetes.container.restartCount': text};

      expect(parseContainerStatus({...cri, annotations}, sandbox).restartCount).toBe(0);
    },
  );

  test('of a foreign container has the name from the runtime and no hash', () => {
    const metadata = {name: 'theirs', attempt: 0};

    expect(parseContainerStatus({...cri, metadata}, sandbox)).toMatchObject({name: 'theirs', hash: ''});
  });
});
