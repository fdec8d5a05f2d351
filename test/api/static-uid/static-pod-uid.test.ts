import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {loadUnvalidatedManifest} from '../../../src/api/load-manifest.js';
import {dumpPod} from '../../../src/api/static-uid/dump-pod.js';
import {computeStaticPodUid} from '../../../src/api/static-uid/static-pod-uid.js';
import {toStaticPod} from '../../../src/kubelet/managers/sources/static-pod.js';

const GOLDEN = new URL('../../golden/', import.meta.url);

function readGolden(path: string): string {
  return readFileSync(new URL(path, GOLDEN), 'utf8');
}

type Case = readonly [uid: string, nodeName: string, path: string, manifest: object];

/** Returns the UID of the Pod of a manifest as the daemon computes it. */
function uidOf(text: string, {nodeName = 'node1', path = '/x/pod.yaml', url = ''}): string | undefined {
  const {pods, issues} = loadUnvalidatedManifest(text, {file: path, lenient: true});
  expect(issues).toEqual([]);
  const {pod, written} = pods[0]!;
  const source = {nodeName, file: path, seen: '', written, ...(url === '' ? {} : {url})};
  return toStaticPod(pod, source).metadata.uid;
}

const KUBELET = JSON.parse(readGolden('static-pod-uids/kubelet.json')) as [string, string, string, string][];

test.each(KUBELET)('kubelet 1.36.2 gives %s on %s the same UID', (manifest, nodeName, path, uid) => {
  expect(uidOf(readGolden(manifest), {nodeName, path})).toBe(uid);
});

// Every field of a Pod, as absent, null, empty and set, from kubelet 1.36's decoding.
test('generated manifests, valid or not, have the UIDs of a kubelet', () => {
  const cases = JSON.parse(readGolden('static-pod-uids/generated.json')) as Case[];
  const wrong = cases.filter(
    ([uid, nodeName, path, manifest]) =>
      computeStaticPodUid(manifest, `host:${nodeName}file:${path}`) !== uid,
  );
  expect(cases.length).toBeGreaterThan(40);
  expect(wrong).toEqual([]);
});
