import {expect, test} from 'vitest';
import {HostsUpdater} from '../../../../src/kubelet/pods/registry/hosts-updater.js';
import {LocalServices} from '../../../../src/kubelet/managers/network/local-services.js';
import type {Service} from '../../../../src/api/types/v1-services.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {aPod} from '../../../fakes/a-pod.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const ANY: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {name: 'any', namespace: 'default'},
  spec: {selector: {app: 'any'}},
};
const running = (ip: string): PodStatus => ({phase: 'Running', podIPs: [{ip}]});
const pods = ['a', 'b'].map((name) => aPod({}, {name, uid: name}));

/** Returns Services that know the pods. */
function createServices(): LocalServices {
  const services = new LocalServices({services: [ANY], clusterDomain: '', clock: new FakeClock()});
  for (const pod of pods) services.add(pod);
  return services;
}

test('the hosts files of all pods of a sync with an address are updated, not those of others', async () => {
  const services = createServices();
  services.addOlder(aPod({}, {name: 'older', uid: 'older'}), running('10.0.0.9'));
  const updated: string[] = [];
  {
    await using _updater = new HostsUpdater({
      services,
      registry: {
        updateHostsFile: async ({metadata}, ips) => void updated.push(`${metadata.name} ${ips.join()}`),
      },
      onError: () => undefined,
    });
    services.update(pods[0]!, running('10.0.0.1'));
  }
  expect(new Set(updated)).toEqual(new Set(['a 10.0.0.1']));
  services.update(pods[1]!, running('10.0.0.2'));
  expect(updated).not.toContain('b 10.0.0.2');
});

test('a hosts file that cannot be written does not affect others', async () => {
  const services = createServices();
  for (const [index, pod] of pods.entries()) services.update(pod, running(`10.0.0.${index}`));
  const updated: string[] = [];
  const failed: string[] = [];
  const updater = new HostsUpdater({
    services,
    registry: {
      updateHostsFile: async ({metadata: {name = ''}}) => {
        if (name === 'a') throw new Error('disk full');
        updated.push(name);
      },
    },
    onError: ({name}) => void failed.push(name),
  });
  await updater[Symbol.asyncDispose]();
  expect({updated, failed}).toEqual({updated: ['b'], failed: ['a']});
});
