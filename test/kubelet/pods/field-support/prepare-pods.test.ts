import {expect, test} from 'vitest';
import {decodeManifest} from '../../../../src/api/manifest/parse-manifest.js';
import {preparePods} from '../../../../src/kubelet/pods/field-support/prepare-pods.js';
import {podManifest} from '../../sources/run-source.js';

test('the UID of a static pod, a hash of all its fields, is computed once', () => {
  const [document] = decodeManifest(podManifest('web'), {file: '/manifests/web.yaml'});
  let reads = 0;
  const written = (): unknown => {
    reads += 1;
    return document!.written?.();
  };
  preparePods([{...document!, written}], {static: true, nodeName: 'node1', seenAtMs: 0});
  expect(reads).toBe(1);
});
