import {describe, expect, test} from 'vitest';
import {
  parseQosReserved,
  qosMemoryLimits,
  qosMemoryRequests,
} from '../../../src/kubelet/resources/qos-requests.js';
import {aPod} from '../../fakes/a-pod.js';

const aPodOf = (name: string, resources: object) =>
  aPod({containers: [{name: 'main', image: 'x', resources}]}, {name, uid: name});
const guaranteed = (memory: string) =>
  aPodOf('g', {requests: {cpu: '1', memory}, limits: {cpu: '1', memory}});
const burstable = (memory: string) => aPodOf('b', {requests: {memory}});

describe('qosReserved', () => {
  test.each([
    [{}, undefined],
    [{memory: '50%'}, 50n],
    [{memory: '0%'}, 0n],
    [{memory: '+7%'}, 7n],
  ])('%j', (reserved, percent) => {
    expect(parseQosReserved(reserved)).toBe(percent);
  });

  test.each([
    [{cpu: '50%'}, 'cannot reserve "cpu" resource'],
    [{memory: '50'}, `failed to parse percentage "50" for "memory" resource: percentage expected, got '50'`],
    [
      {memory: 'x%'},
      `failed to parse percentage "x%" for "memory" resource: invalid number in percentage 'x%'`,
    ],
    [
      {memory: '101%'},
      'failed to parse percentage "101%" for "memory" resource: percentage must be between 0 and 100',
    ],
    [
      {memory: '-1%'},
      'failed to parse percentage "-1%" for "memory" resource: percentage must be between 0 and 100',
    ],
  ])('%j is invalid', (reserved, message) => {
    expect(() => parseQosReserved(reserved)).toThrow(message);
  });
});

describe('memory of the lower QoS classes', () => {
  test.each([
    ['without pods', 100n, [], [1000n, 1000n]],
    ['all that is requested is reserved', 100n, [guaranteed('300'), burstable('200')], [700n, 500n]],
    ['half of it', 50n, [guaranteed('301'), burstable('200')], [850n, 750n]],
    ['nothing', 0n, [guaranteed('300')], [1000n, 1000n]],
    ['pods without requests', 100n, [aPodOf('e', {})], [1000n, 1000n]],
  ])('%s', (_what, percent, pods, expected) => {
    const {burstable: forBurstable, besteffort} = qosMemoryLimits(percent, 1000n, qosMemoryRequests(pods));
    expect([forBurstable, besteffort]).toEqual(expected);
  });
});
