import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {leaveRecordedNode} from './left-node.js';
import {changedPods, changingCalls, lostMirrorPods, runningIds} from './recorded-takeover.js';
import {takeOver} from './take-over.js';

const SETTLE_MS = 3000;

/** Mounting requires root. */
test.skipIf(process.getuid?.() !== 0)(
  'nothing restarts and no status changes on a node that kubelet 1.36.2 has left',
  async () => {
    const node = await leaveRecordedNode(await temporaryDirectory());
    onTestFinished(() => {
      node.unmount();
    });
    const running = runningIds(node.runtime.containers);
    await using testbed = await takeOver(node);
    const {daemon, api} = testbed;
    await daemon.until('all pods are known', () => daemon.view.pods().length === node.pods.length);
    await daemon.clock.sleep(SETTLE_MS);
    expect(changingCalls(daemon.fake)).toEqual([]);
    expect(runningIds(daemon.fake.containers)).toEqual(running);
    expect(changedPods(node, api)).toEqual([]);
    expect(lostMirrorPods(node, api)).toEqual([]);
    // The crashing container waits for the rest of its back-off.
    const backOff = '"back-off 40s restarting failed container=c pod=crash';
    expect(daemon.errors.some((error) => error.includes(backOff))).toBe(true);
    // The paths of the manifests are not those of the recording.
    const kept = daemon.log.filter(({message}) => message.startsWith('Keeping static pod'));
    const mirrors = node.pods.filter(({metadata}) => metadata.namespace === 'kube-system');
    expect(kept.map(({fields}) => fields['pod']).toSorted()).toEqual(
      mirrors.map(({metadata}) => `kube-system/${metadata.name}`).toSorted(),
    );
  },
);
