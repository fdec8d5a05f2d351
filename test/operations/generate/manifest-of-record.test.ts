import {expect, test} from 'vitest';
import {computePodUid} from '../../../src/api/container-hash.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {manifestOfRecord} from '../../../src/operations/generate/manifest-of-record.js';

const metadata = {name: 'web-7d4b-abcde', namespace: 'default', generateName: 'web-7d4b-'};
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: {containers: [{name: 'main', image: 'i', resources: {}}]},
};

test.each([computePodUid(pod, '/root'), 'chosen'])(
  'the manifest of a workload’s pod has its name only (UID %s)',
  (uid) => {
    const manifest = manifestOfRecord({...pod, metadata: {...metadata, uid}}, '/root');
    expect(manifest.metadata).toEqual({
      name: 'web-7d4b-abcde',
      namespace: 'default',
      ...(uid === 'chosen' && {uid}),
    });
  },
);
