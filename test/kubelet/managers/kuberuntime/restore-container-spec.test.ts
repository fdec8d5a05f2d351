import {expect, test} from 'vitest';
import type {Container} from '../../../../src/api/types/v1-pod.js';
import {containerAnnotations} from '../../../../src/kubelet/managers/kuberuntime/config/labels.js';
import {
  restoreContainerSpec,
  restoreGracePeriodSeconds,
} from '../../../../src/kubelet/managers/kuberuntime/restore-container-spec.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {anInstance} from '../../../fakes/a-runtime-pod.js';

/** Creates an instance with these annotations. */
function annotated(annotations: Readonly<Record<string, string>>) {
  return anInstance('main', 'CONTAINER_RUNNING', {annotations});
}

// Proves: Lifecycle.preStop
test.each<[string, Partial<Container>]>([
  ['nothing', {}],
  ['an exec hook', {lifecycle: {preStop: {exec: {command: ['sh', '-c', 'echo "bye"']}}}}],
  ['a sleep', {lifecycle: {preStop: {sleep: {seconds: 3}}}}],
  [
    'an HTTP hook and the ports that it may name',
    {
      ports: [{name: 'http', containerPort: 80, protocol: 'TCP'}],
      lifecycle: {
        preStop: {httpGet: {path: '/', port: 'http', scheme: 'HTTP', httpHeaders: [{name: 'A', value: 'b'}]}},
      },
    },
  ],
  ['a port by its number', {lifecycle: {preStop: {httpGet: {path: '/', port: 8080, scheme: 'HTTPS'}}}}],
])('a container with %s is restored from its annotations', (_title, fields) => {
  const annotations = containerAnnotations(aPod(), aContainer(fields), 0);

  expect(restoreContainerSpec(annotated(annotations))).toEqual(aContainer(fields));
});

test.each(['', '{', '[]', '7', 'null', '{"exec": {"command": "sh"}}', '{"exec": 1}', '{"nonsense": {}}'])(
  'the invalid preStop handler %j is ignored',
  (text) => {
    const annotations = {'io.kubernetes.container.preStopHandler': text};

    expect(restoreContainerSpec(annotated(annotations)).lifecycle?.preStop).toBeUndefined();
  },
);

test.each([
  [{'io.kubernetes.pod.terminationGracePeriod': '45'}, 45],
  [{'io.kubernetes.pod.terminationGracePeriod': '45', 'io.kubernetes.pod.deletionGracePeriod': '5'}, 5],
  [{'io.kubernetes.pod.terminationGracePeriod': '-1'}, undefined],
  [{'io.kubernetes.pod.terminationGracePeriod': '1e9'}, undefined],
  [{}, undefined],
])('the grace period of %j is %s', (annotations, expected) => {
  expect(restoreGracePeriodSeconds(annotated(annotations))).toBe(expected);
});
