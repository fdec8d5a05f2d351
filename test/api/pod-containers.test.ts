import {expect, test} from 'vitest';
import {findContainer} from '../../src/api/pod-containers.js';
import type {Container, Pod} from '../../src/api/types/v1-pod.js';

/** Returns a pod with many init containers, and a counter of the reads of their names. */
function createPod(count: number) {
  const reads = {count: 0};
  const initContainers = Array.from({length: count}, (_, index) => ({
    get name(): string {
      reads.count += 1;
      return `i${index}`;
    },
  })) as unknown as readonly Container[];
  return {pod: {spec: {initContainers, containers: []}} as unknown as Pick<Pod, 'spec'>, reads};
}

test('looking up every container of a pod takes linear time', () => {
  const {pod, reads} = createPod(1000);
  for (let index = 0; index < 1000; index += 1)
    expect(findContainer(pod, `i${index}`)).toBe(pod.spec.initContainers?.[index]);
  expect(findContainer(pod, 'none')).toBeUndefined();
  expect(reads.count).toBeLessThan(3000);
});
