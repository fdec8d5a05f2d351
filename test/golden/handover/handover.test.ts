import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {leaveRecordedNode} from './left-node.js';
import {takeOverUnchanged} from './take-over.js';

/** Mounting requires root. */
test.skipIf(process.getuid?.() !== 0)(
  'nothing restarts and no status changes on a node that kubelet 1.36.2 has left',
  async () => {
    const node = await leaveRecordedNode(await temporaryDirectory());
    onTestFinished(() => {
      node.unmount();
    });
    await using testbed = await takeOverUnchanged(node);
    const {daemon} = testbed;
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
