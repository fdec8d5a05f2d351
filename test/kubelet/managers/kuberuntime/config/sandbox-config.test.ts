import {describe, expect, test} from 'vitest';
import {generatePodSandboxConfig} from '../../../../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aContainer, aPod, UID} from '../../../../fakes/a-pod.js';

// Proves: ObjectMeta.annotations
test('the sandbox config has the identity, labels and annotations of the pod', () => {
  const pod = aPod({}, {annotations: {note: 'x'}, labels: {app: 'y'}});

  expect(generatePodSandboxConfig(pod, GOLDEN_NODE, 3)).toMatchObject({
    metadata: {name: 'web', namespace: 'default', uid: UID, attempt: 3},
    logDirectory: `/var/log/golden-pods/default_web_${UID}`,
    annotations: {note: 'x'},
    labels: {app: 'y'},
    hostname: 'web',
  });
});

describe('the hostname', () => {
  // Proves: PodSpec.setHostnameAsFQDN, PodSpec.subdomain
  test('is the FQDN with setHostnameAsFQDN', () => {
    const pod = aPod({hostname: 'h', subdomain: 'sub', setHostnameAsFQDN: true});

    expect(generatePodSandboxConfig(pod, GOLDEN_NODE, 0).hostname).toBe('h.sub.default.svc.cluster.local');
  });

  test('is the short name with setHostnameAsFQDN but without a subdomain', () => {
    expect(generatePodSandboxConfig(aPod({setHostnameAsFQDN: true}), GOLDEN_NODE, 0).hostname).toBe('web');
  });

  test('is rejected if it is longer than 64 characters', () => {
    const pod = aPod({hostname: 'h'.repeat(35), subdomain: 'sub', setHostnameAsFQDN: true});
    const fqdn = `${'h'.repeat(35)}.sub.default.svc.cluster.local`;

    const message = `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (64 characters is the max, 65 characters requested)`;

    expect(() => generatePodSandboxConfig(pod, GOLDEN_NODE, 0)).toThrow(
      expect.objectContaining({name: 'PodSandboxConfigError', message}) as Error,
    );
  });

  // Proves: PodSpec.hostNetwork
  test('is empty in the host network', () => {
    expect(generatePodSandboxConfig(aPod({hostNetwork: true}), GOLDEN_NODE, 0).hostname).toBe('');
  });
});

// Proves: PodSecurityContext.sysctls
test('sysctl names are converted to dots as separators', () => {
  const names = ['kernel.shm_rmid_forced', 'net/ipv4/conf/eth0.1/x', 'net.ipv4.conf.eth0/1.y', 'plain'];
  const sysctls = names.map((name) => ({name, value: '1'}));

  const {linux} = generatePodSandboxConfig(aPod({securityContext: {sysctls}}), GOLDEN_NODE, 0);

  expect(Object.keys(linux?.sysctls ?? {})).toEqual([
    'kernel.shm_rmid_forced',
    'net.ipv4.conf.eth0/1.x',
    'net.ipv4.conf.eth0/1.y',
    'plain',
  ]);
});

// Proves: Container.ports, ContainerPort.hostPort
test('ports of regular containers are mapped, ports of init containers are not', () => {
  const pod = aPod({
    containers: [aContainer({ports: [{containerPort: 80, hostPort: 8080}]})],
    initContainers: [aContainer({name: 'init', ports: [{containerPort: 81}]})],
  });

  expect(generatePodSandboxConfig(pod, GOLDEN_NODE, 0).portMappings).toEqual([
    {protocol: 'TCP', containerPort: 80, hostPort: 8080, hostIp: ''},
  ]);
});
