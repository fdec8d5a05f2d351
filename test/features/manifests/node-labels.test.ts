import {expect, test} from 'vitest';
import {checkKubeletLabels, parseNodeLabels} from '../../../src/features/manifests/node-labels.js';

test('a label without a value is empty, and spaces around keys and values do not count', () => {
  expect(parseNodeLabels(['zone', ' disk = ssd ', '', 'a=1', 'a=2'])).toEqual({
    zone: '',
    disk: 'ssd',
    a: '2',
  });
});

test.each([
  ['a=b=c', "invalid node labels: 'b=c' - a valid label must be"],
  ['=a', "invalid node labels: '' - name part must be non-empty"],
  ['a/b/c=d', "invalid node labels: 'a/b/c' - a qualified name"],
])('the label "%s" is invalid', (label, message) => {
  expect(() => parseNodeLabels([label])).toThrow(message);
});

test.each([
  'node-role.kubernetes.io/worker=',
  'kubernetes.io/team=a',
  'example.k8s.io/x=y',
  'node.kubernetes.io.k8s.io/x=y',
])('a kubelet may not set the label "%s", but a pod may be planned for a node that has it', (label) => {
  expect(() => {
    checkKubeletLabels(['a=b', label]);
  }).toThrow(
    `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${label.split('=')[0]}]`,
  );
  expect(Object.keys(parseNodeLabels([label]))).toHaveLength(1);
});

test('a kubelet may set labels of the node, and all that are not of Kubernetes', () => {
  const labels = [
    ...['topology.kubernetes.io/zone=a', 'node.kubernetes.io/pool=b', 'x.kubelet.kubernetes.io/c=d'],
    ...['example.com/e=f', 'kubernetes.io=g', 'beta.kubernetes.io/instance-type=h'],
  ];
  expect(() => {
    checkKubeletLabels(labels);
  }).not.toThrow();
});
