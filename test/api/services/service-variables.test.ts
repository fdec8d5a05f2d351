import {describe, expect, test} from 'vitest';
import {computeServiceVariables, type Service} from '../../../src/api/services/service-variables.js';

function service(namespace: string, name: string, spec: Service['spec']): Service {
  return {metadata: {namespace, name}, ...(spec && {spec})};
}

const API = service('default', 'kubernetes', {
  clusterIP: '10.99.0.1',
  ports: [{name: 'https', protocol: 'TCP', port: 443}],
});
const API_VARIABLES = {
  KUBERNETES_SERVICE_HOST: '10.99.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: 'tcp://10.99.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.99.0.1:443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.99.0.1',
};

const variables = (
  services: readonly Service[],
  namespace = 'apps',
  serviceLinks = true,
): Readonly<Record<string, string>> =>
  Object.fromEntries(computeServiceVariables(services, {namespace, serviceLinks}));

test('every container gets the variables of the API server, also without service links', () => {
  expect(variables([API])).toEqual(API_VARIABLES);
  expect(variables([API], 'apps', false)).toEqual(API_VARIABLES);
});

test('service links add the Services of the namespace of the pod', () => {
  const own = service('apps', 'my-db', {clusterIP: 'fd00::1', ports: [{protocol: 'UDP', port: 53}]});
  const other = service('other', 'web', {clusterIP: '10.99.0.3', ports: [{port: 80}]});
  expect(variables([own, other])).toEqual({
    MY_DB_SERVICE_HOST: 'fd00::1',
    MY_DB_SERVICE_PORT: '53',
    MY_DB_PORT: 'udp://[fd00::1]:53',
    MY_DB_PORT_53_UDP: 'udp://[fd00::1]:53',
    MY_DB_PORT_53_UDP_PROTO: 'udp',
    MY_DB_PORT_53_UDP_PORT: '53',
    MY_DB_PORT_53_UDP_ADDR: 'fd00::1',
  });
  expect(variables([own, other], 'apps', false)).toEqual({});
});

describe('a Service without variables', () => {
  test.each<[string, Service['spec']]>([
    ['is headless', {clusterIP: 'None', ports: [{port: 80}]}],
    ['has no address yet', {clusterIP: '', ports: [{port: 80}]}],
    ['has no ports', {clusterIP: '10.99.0.9'}],
  ])('%s', (_title, spec) => {
    expect(variables([service('apps', 'web', spec)])).toEqual({});
  });
});
