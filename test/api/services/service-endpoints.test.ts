import {describe, expect, test} from 'vitest';
import {
  endpointsOf,
  selectsPod,
  targetPortOf,
  toVariableService,
  type ServicePod,
} from '../../../src/api/services/service-endpoints.js';
import {serviceHosts} from '../../../src/api/services/service-hosts.js';
import {idleServiceNotice, serviceNotices} from '../../../src/api/services/service-notices.js';
import type {PodSpec} from '../../../src/api/types/v1-pod.js';
import type {Service, ServiceSpec} from '../../../src/api/types/v1-services.js';
import {aContainer, aPod} from '../../fakes/a-pod.js';

function aService(spec: ServiceSpec = {}, name = 'web', namespace = 'default'): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {name, namespace},
    spec: {selector: {app: 'web'}, ports: [{port: 80}], ...spec},
  };
}

function aServer(
  name: string,
  ip: string,
  state: Partial<ServicePod> = {},
  spec: Partial<PodSpec> = {},
): ServicePod {
  const container = aContainer({ports: [{name: 'http', containerPort: 8080, protocol: 'TCP'}]});
  const pod = aPod({containers: [container], ...spec}, {name, labels: {app: 'web'}});
  const ips = ip === '' ? [] : [ip];
  return {pod, ips, isReady: true, hasEnded: false, isOlder: false, ...state};
}

describe('the endpoints of a Service are', () => {
  const names = (pods: readonly ServicePod[], spec: ServiceSpec = {}): readonly string[] =>
    endpointsOf(aService(spec), pods).map(({pod}) => pod.metadata.name ?? '');

  test('its ready pods, and all that run while none is ready', () => {
    const starting = aServer('a', '10.0.0.1', {isReady: false});
    expect(names([starting, aServer('b', '10.0.0.2')])).toEqual(['b']);
    expect(names([starting])).toEqual(['a']);
    expect(names([starting, aServer('b', '10.0.0.2')], {publishNotReadyAddresses: true})).toEqual(['a', 'b']);
  });

  test('neither pods without an address nor pods that have ended', () => {
    expect(names([aServer('a', ''), aServer('b', '10.0.0.2', {hasEnded: true})])).toEqual([]);
  });

  test('those of this sync before older ones', () => {
    const older = aServer('a', '10.0.0.1', {isOlder: true});
    expect(names([older, aServer('b', '10.0.0.2')])).toEqual(['b', 'a']);
  });
});

test.each<[string, Service, boolean]>([
  ['the same labels and namespace', aService(), true],
  ['another namespace', aService({}, 'web', 'other'), false],
  ['another label', aService({selector: {app: 'db'}}), false],
  ['no selector', aService({selector: {}}), false],
  ['type ExternalName', aService({type: 'ExternalName', externalName: 'x.org'}), false],
])('a Service with %s selects a pod: %#', (_title, service, expected) => {
  expect(selectsPod(service, aServer('a', '').pod)).toBe(expected);
});

test('a target port is a number, the name of a container port, or the port of the Service', () => {
  const {pod} = aServer('a', '');
  expect(targetPortOf({port: 80}, pod)).toBe(80);
  expect(targetPortOf({port: 80, targetPort: 81}, pod)).toBe(81);
  expect(targetPortOf({port: 80, targetPort: 'http'}, pod)).toBe(8080);
  expect(targetPortOf({port: 80, targetPort: 'http', protocol: 'UDP'}, pod)).toBe(80);
  expect(targetPortOf({port: 80, targetPort: 'missing'}, pod)).toBe(80);
});

test('variables show the address and the target port of the first endpoint', () => {
  const service = aService({ports: [{name: 'http', port: 80, targetPort: 'http'}]});
  expect(toVariableService(service, [aServer('a', '10.0.0.1')])).toEqual({
    metadata: service.metadata,
    spec: {clusterIP: '10.0.0.1', ports: [{name: 'http', port: 80, reachedAt: 8080}]},
  });
  expect(toVariableService(service, [])).toEqual({metadata: service.metadata});
  const headless = aService({clusterIP: 'None'});
  expect(toVariableService(headless, [aServer('a', '10.0.0.1')])).toEqual({metadata: headless.metadata});
});

describe('the hosts file of a pod has', () => {
  const context = {pods: [aServer('a', '10.0.0.1')], clusterDomain: ''};
  const long = ['web.default.svc.cluster.local', 'web.default.svc', 'web.default'];

  test('the names of a Service with the addresses of its pods', () => {
    expect(serviceHosts([aService()], 'default', context)).toEqual([
      {ip: '10.0.0.1', hostnames: [...long, 'web']},
    ]);
  });

  test('no short name of a Service in another namespace, and the domain of the node', () => {
    const elsewhere = serviceHosts([aService()], 'other', {...context, clusterDomain: 'c.test'});
    expect(elsewhere).toEqual([
      {ip: '10.0.0.1', hostnames: ['web.default.svc.c.test', 'web.default.svc', 'web.default']},
    ]);
  });

  test('the names of the pods of a headless Service', () => {
    const spec = {hostname: 'web-0', subdomain: 'web'};
    const pods = [aServer('web-0', '10.0.0.1', {isReady: false}, spec)];
    const found = serviceHosts([aService({clusterIP: 'None'})], 'default', {...context, pods});
    expect(found).toContainEqual({
      ip: '10.0.0.1',
      hostnames: [...long, 'web'].map((name) => `web-0.${name}`),
    });
    expect(serviceHosts([aService()], 'default', {...context, pods})).toHaveLength(1);
  });

  test('an external name that is an address', () => {
    const external = (externalName: string): Service => aService({type: 'ExternalName', externalName});
    expect(serviceHosts([external('192.0.2.1')], 'default', context)).toEqual([
      {ip: '192.0.2.1', hostnames: [...long, 'web']},
    ]);
    expect(serviceHosts([external('example.org')], 'default', context)).toEqual([]);
  });
});

describe('users are informed', () => {
  const {pod} = aServer('a', '');
  test.each<[string, ServiceSpec, string]>([
    [
      'about a port that nothing forwards',
      {ports: [{port: 80, targetPort: 'http'}]},
      'spec.ports[0].targetPort',
    ],
    ['about a type that exposes nothing', {type: 'NodePort'}, 'spec.type'],
    ['about external addresses', {externalIPs: ['192.0.2.1']}, 'spec.externalIPs'],
    ['about an external name', {type: 'ExternalName', externalName: 'example.org'}, 'spec.externalName'],
    ['about a missing selector', {selector: {}}, 'spec'],
  ])('%s', (_title, spec, path) => {
    expect(serviceNotices(aService(spec), [pod]).map((notice) => notice.path.toString())).toEqual([path]);
  });

  test('not about a Service that works as in a cluster', () => {
    expect(serviceNotices(aService(), [pod])).toEqual([]);
    expect(serviceNotices(aService({clusterIP: 'None', ports: [{port: 80, targetPort: 81}]}), [pod])).toEqual(
      [],
    );
    expect(serviceNotices(aService({type: 'ExternalName', externalName: '192.0.2.1'}), [])).toEqual([]);
  });

  test('about a Service without pods', () => {
    expect(idleServiceNotice(aService(), [pod])).toBeUndefined();
    expect(idleServiceNotice(aService(), [])?.path.toString()).toBe('spec.selector');
    expect(idleServiceNotice(aService({selector: {}}), [])).toBeUndefined();
  });
});
