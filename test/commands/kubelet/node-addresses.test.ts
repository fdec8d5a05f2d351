import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {startKubelet, type KubeletTestbed} from './kubelet-testbed.js';

/** Resolves with the Node object that the kubelet would register. */
async function nodeOf({testbed, run}: KubeletTestbed): Promise<unknown> {
  const {stdout} = await run(['get', 'node', '-o', 'json'], {endpoint: testbed.runtime.endpoint});
  return JSON.parse(stdout) as unknown;
}

const isRunning = ({log}: KubeletTestbed) => log().includes('Starting kubelet main sync loop');

test('a kubelet logs a --node-ip that is no IP address, or none of the machine', async () => {
  const kubelet = await startKubelet({flags: ['--node-ip=203.0.113.1,nonsense']});
  await until(() => isRunning(kubelet));
  expect(kubelet.log()).toContain('"Could not parse some node IP(s), ignoring them" IPs=["nonsense"]');
  expect(kubelet.log()).toMatch(
    /"Failed to set some node status fields" err="failed to validate nodeIP: node IP: \\"203\.0\.113\.1\\" not found in the host's network interfaces"/,
  );
});

// Proves: kubelet --cloud-provider
test('a node in a cloud has a taint and only its name until the cloud initializes it', async () => {
  const kubelet = await startKubelet({flags: ['--cloud-provider=external', '--provider-id=cloud://1']});
  await until(() => isRunning(kubelet));
  expect(await nodeOf(kubelet)).toMatchObject({
    spec: {
      providerID: 'cloud://1',
      taints: [{key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule'}],
    },
    status: {addresses: [{type: 'Hostname', address: 'n1'}]},
  });
});

// Proves: kubelet --hostname-override, kubelet --node-ip
test('the name of the node is its IP address if it is one', async () => {
  const kubelet = await startKubelet({flags: ['--hostname-override=2001:DB8::7', '--node-ip=::']});
  await until(() => isRunning(kubelet));
  expect(await nodeOf(kubelet)).toMatchObject({
    metadata: {name: '2001:db8::7'},
    status: {
      addresses: [
        {type: 'InternalIP', address: '2001:db8::7'},
        {type: 'Hostname', address: '2001:db8::7'},
      ],
    },
  });
});
