import {expect, test} from 'vitest';
import type {Container} from '../../../src/api/v1.js';
import {containerAnnotations} from '../../../src/kubelet/kuberuntime/labels.js';
import {restoredContainer, restoredGracePeriod} from '../../../src/kubelet/kuberuntime/restored-container.js';
import {aContainer, aPod, anInstance} from './builders.js';

/** An instance with these annotations. */
function annotated(annotations: Readonly<Record<string, string>>) {
  const instance = anInstance('main', 'CONTAINER_RUNNING');
  return {...instance, cri: {...instance.cri, annotations, image: {image: 'busybox:1'} as never}};
}

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
])('of a container with %s its annotations tell all that ends it', (_title, fields) => {
  const annotations = containerAnnotations(aPod(), aContainer(fields), 0);

  expect(restoredContainer(annotated(annotations))).toEqual(aContainer(fields));
});

test.each(['', '{', '[]', '7', 'null', '{"exec": {"command": "sh"}}', '{"exec": 1}', '{"nonsense": {}}'])(
  'a preStop handler that somebody has made %j is none',
  (text) => {
    const annotations = {'io.kubernetes.container.preStopHandler': text};

    expect(restoredContainer(annotated(annotations)).lifecycle?.preStop).toBeUndefined();
  },
);

test.each([
  [{'io.kubernetes.pod.terminationGracePeriod': '45'}, 45],
  [{'io.kubernetes.pod.terminationGracePeriod': '45', 'io.kubernetes.pod.deletionGracePeriod': '5'}, 5],
  [{'io.kubernetes.pod.terminationGracePeriod': '-1'}, undefined],
  [{'io.kubernetes.pod.terminationGracePeriod': '1e9'}, undefined],
  [{}, undefined],
])('the grace period of %j is %s', (annotations, expected) => {
  expect(restoredGracePeriod(annotated(annotations))).toBe(expected);
});
