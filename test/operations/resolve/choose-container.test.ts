import {describe, expect, test} from 'vitest';
import type {Container, ContainerState} from '../../../src/cri/index.js';
import {containerId, imageId, imageRef, podSandboxId} from '../../../src/cri/index.js';
import {chooseContainer, type ContainerLayout} from '../../../src/operations/resolve/choose-container.js';

interface Attempt {
  readonly name: string;
  readonly attempt?: number;
  readonly createdAt: bigint;
  readonly state?: ContainerState;
}

function toContainer({name, attempt = 0, createdAt, state = 'CONTAINER_RUNNING'}: Attempt): Container {
  return {
    id: containerId(`${name}-${attempt}`),
    podSandboxId: podSandboxId('p'),
    metadata: {name, attempt},
    image: undefined,
    imageRef: imageRef(''),
    state,
    createdAt,
    labels: {},
    annotations: {},
    imageId: imageId(''),
  };
}

const EXITED = 'CONTAINER_EXITED';
const DEFAULT = 'kubectl.kubernetes.io/default-container';

interface Scene {
  readonly attempts: readonly Attempt[];
  readonly layout?: ContainerLayout;
  readonly annotation?: string;
  readonly name?: string;
}

function choose({attempts, layout, annotation, name}: Scene) {
  const annotations = annotation === undefined ? {} : {[DEFAULT]: annotation};
  const pod = {name: 'web', annotations, containers: attempts.map(toContainer), layout};
  const {container, note} = chooseContainer(pod, name);
  return [container.id, note];
}

const RESTARTED = [
  {name: 'a', createdAt: 1n, state: EXITED},
  {name: 'b', createdAt: 2n},
  {name: 'a', attempt: 1, createdAt: 3n},
] as const;
const WITH_INIT = [
  {name: 'setup', createdAt: 1n, state: EXITED},
  {name: 'b', createdAt: 2n},
  {name: 'a', createdAt: 3n},
] as const;
const LAYOUT = {containers: ['a', 'b'], initContainers: ['setup']};

describe('chooseContainer', () => {
  test.each([
    ['the only container', {attempts: [{name: 'a', createdAt: 1n}]}, 'a-0', undefined],
    [
      'an only container that has exited',
      {attempts: [{name: 'a', createdAt: 1n, state: EXITED}]},
      'a-0',
      undefined,
    ],
    [
      'the newest attempt of the container created first',
      {attempts: RESTARTED},
      'a-1',
      'Defaulted container "a" out of: a, b',
    ],
    [
      'the first container that runs',
      {attempts: WITH_INIT},
      'b-0',
      'Defaulted container "b" out of: setup, b, a',
    ],
    [
      'the first container of the spec',
      {attempts: WITH_INIT, layout: LAYOUT},
      'a-0',
      'Defaulted container "a" out of: a, b, setup (init)',
    ],
    ['the container of the annotation', {attempts: RESTARTED, annotation: 'b'}, 'b-0', undefined],
    [
      'the first one if the annotation is empty',
      {attempts: [{name: 'a', createdAt: 1n}], annotation: ''},
      'a-0',
      undefined,
    ],
    [
      'the named container',
      {attempts: WITH_INIT, layout: LAYOUT, annotation: 'b', name: 'setup'},
      'setup-0',
      undefined,
    ],
  ] as const)('returns %s', (_, scene, id, note) => {
    expect(choose(scene)).toEqual([id, note]);
  });

  test.each([
    ['no containers', {attempts: []}, 'pod web does not have any containers'],
    ['a wrong name', {attempts: RESTARTED, name: 'c'}, 'container c is not valid for pod web out of: a, b'],
    [
      'a wrong annotation',
      {attempts: WITH_INIT, layout: LAYOUT, annotation: 'c'},
      'container c is not valid for pod web out of: a, b, setup (init)',
    ],
    [
      'a container that has not been created',
      {attempts: WITH_INIT.slice(0, 1), layout: LAYOUT},
      'container "a" of pod web has not been created',
    ],
  ] as const)('rejects %s', (_, scene, message) => {
    expect(() => choose(scene)).toThrow(message);
  });
});
