import {describe, expect, test} from 'vitest';
import type {PodSpec} from '../../../src/api/types/v1-pod.js';
import type {RuntimeClass} from '../../../src/api/types/v1-objects.js';
import {createApiObjects} from '../../../src/kubelet/contract/api-objects.js';
import {findRuntimeClassConflicts, applyRuntimeClass} from '../../../src/kubelet/sources/runtime-class.js';
import {lookupRuntimeHandler} from '../../../src/kubelet/contract/lookup-runtime-handler.js';
import {aPod} from '../../fakes/a-pod.js';

function objects(fields: Partial<RuntimeClass> = {}): ReturnType<typeof createApiObjects> {
  const kata: RuntimeClass = {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: {name: 'kata'},
    handler: 'kata-qemu',
    ...fields,
  };
  return createApiObjects([kata], ['classes.yaml']);
}

const OVERHEAD = {overhead: {podFixed: {cpu: '250m', memory: '64Mi'}}};

describe('a RuntimeClass', () => {
  test('selects the runtime handler', () => {
    expect(lookupRuntimeHandler(aPod({runtimeClassName: 'kata'}), objects())).toBe('kata-qemu');
    expect(lookupRuntimeHandler(aPod(), objects())).toBe('');
    expect(lookupRuntimeHandler(aPod({runtimeClassName: ''}), objects())).toBe('');
  });

  test('must exist', () => {
    expect(() => lookupRuntimeHandler(aPod({runtimeClassName: 'gvisor'}), objects())).toThrow(
      expect.objectContaining({
        message: 'runtimeclass.node.k8s.io "gvisor" not found',
        hint: 'add the RuntimeClass "gvisor" to the Pod\'s manifests (searched: classes.yaml)',
      }) as Error,
    );
  });

  test('adds overhead, node selector and tolerations', () => {
    const scheduling = {nodeSelector: {a: 'b'}, tolerations: [{key: 'x'}, {key: 'y'}]};
    const pod = aPod({
      runtimeClassName: 'kata',
      nodeSelector: {c: 'd'},
      tolerations: [{key: 'y'}, {key: 'z'}],
    });

    expect(applyRuntimeClass(pod, objects({...OVERHEAD, scheduling})).spec).toEqual({
      ...pod.spec,
      overhead: {cpu: '250m', memory: '64Mi'},
      nodeSelector: {a: 'b', c: 'd'},
      tolerations: [{key: 'y'}, {key: 'z'}, {key: 'x'}],
    });
  });

  // Proves: Pod.spec
  test('adds nothing to pods of other classes', () => {
    for (const pod of [aPod(), aPod({runtimeClassName: 'gvisor'}), aPod({overhead: {cpu: '1'}})]) {
      expect(applyRuntimeClass(pod, objects(OVERHEAD))).toBe(pod);
      expect(findRuntimeClassConflicts(pod, objects(OVERHEAD))).toEqual([]);
    }
  });
});

describe('a Pod and its RuntimeClass', () => {
  const conflicts = (spec: Partial<PodSpec>, fields: Partial<RuntimeClass>): readonly string[] =>
    findRuntimeClassConflicts(aPod({runtimeClassName: 'kata', ...spec}), objects(fields)).map(
      ({path, message}) => `${path.toString()}: ${message}`,
    );

  test('may have the same values', () => {
    expect(conflicts({overhead: {cpu: '0.25', memory: '65536Ki'}}, OVERHEAD)).toEqual([]);
    expect(conflicts({nodeSelector: {a: 'b'}}, {scheduling: {nodeSelector: {a: 'b'}}})).toEqual([]);
    expect(conflicts({nodeSelector: {}}, {scheduling: {nodeSelector: {constructor: 'b'}}})).toEqual([]);
  });

  test.each<[string, Partial<PodSpec>, Partial<RuntimeClass>]>([
    [
      "spec.overhead: Forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
      {overhead: {cpu: '250m'}},
      OVERHEAD,
    ],
    [
      'spec.overhead: Forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      {overhead: {cpu: '250m'}},
      {},
    ],
    [
      'spec.nodeSelector[a]: Forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c',
      {nodeSelector: {a: 'c'}},
      {scheduling: {nodeSelector: {a: 'b'}}},
    ],
  ])('conflict: %s', (message, spec, fields) => {
    expect(conflicts(spec, fields)).toEqual([message]);
  });
});
