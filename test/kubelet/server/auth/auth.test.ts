import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {parseAuthorizationPolicy} from '../../../../src/kubelet/server/auth/authorization-policy.js';
import {getRequestAttributes} from '../../../../src/kubelet/server/auth/request-attributes.js';
import {createSelfSignedPair} from '../../../../src/format/x509/self-signed-certificate.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {createCertificate, createClientCertificate} from './client-certificate.js';
import {clusterRole, clusterRoleBinding, policyFile} from './rbac-manifests.js';
import {startServerTestbed, type ServerTestbed} from '../server-testbed.js';

const alice = createClientCertificate('alice', 'admins', 'people');
const bob = createClientCertificate('bob');
const twoUids = createCertificate([
  ['UID', 'u1'],
  ['UID', 'u2'],
  ['CN', 'carol'],
]);
const emptyUid = createCertificate([
  ['UID', ''],
  ['CN', 'dave'],
]);
const untrusted = createClientCertificate('alice', 'admins');
const server = createSelfSignedPair({
  commonName: 'alice',
  names: ['alice'],
  notBeforeMs: 0,
  notAfterMs: 4e12,
});

const POLICY = policyFile(
  clusterRole('metrics', '{apiGroups: [""], resources: [nodes/metrics, nodes/stats], verbs: [get]}'),
  clusterRole('all', '{apiGroups: ["*"], resources: ["*"], verbs: ["*"], resourceNames: [node-1]}'),
  clusterRoleBinding(
    'scraper',
    '{kind: User, name: bob}, {kind: Group, name: system:unauthenticated}',
    'metrics',
  ),
  clusterRoleBinding('admins', '{kind: Group, name: admins}', 'all'),
);

async function start(anonymous: boolean, policy?: string, clock = systemClock): Promise<ServerTestbed> {
  const directory = await temporaryDirectory();
  const clientCaFile = join(directory, 'ca.crt');
  await writeFile(
    clientCaFile,
    [alice, bob, twoUids, emptyUid, server].map(({certificate}) => certificate).join(''),
  );
  const path = policy === undefined ? undefined : join(directory, 'policy.yaml');
  if (path !== undefined && policy !== undefined) await writeFile(path, policy);
  return await startServerTestbed({access: {anonymous, clientCaFile, policyFile: path}, options: {clock}});
}

describe('authentication', () => {
  test.each([
    ['an anonymous client if anonymous requests are allowed', true, undefined, 200],
    ['an anonymous client if anonymous requests are not allowed', false, undefined, 401],
    ['a client with a trusted certificate', false, alice, 200],
    ['a client with an untrusted certificate', false, untrusted, 401],
    ['a client with an untrusted certificate if anonymous requests are allowed', true, untrusted, 401],
    ['a client with a server certificate', true, server, 401],
    ['a client whose certificate has two UIDs', true, twoUids, 401],
    ['a client whose certificate has an empty UID', true, emptyUid, 401],
  ])('%s gets the expected status', async (_client, anonymous, client, status) => {
    const {request} = await start(anonymous);
    const response = await request('/pods', client === undefined ? {} : {client});
    expect(response.status).toBe(status);
    if (status === 401) expect(response.body).toBe('Unauthorized');
  });

  test('a client whose certificate has expired gets 401', async () => {
    const {request} = await start(true, undefined, {...systemClock, now: () => Date.UTC(2121)});
    expect((await request('/pods', {client: alice})).status).toBe(401);
    expect((await request('/pods')).status).toBe(200);
  });

  test('an unknown path is 404 without authentication, all others are 401', async () => {
    const {request} = await start(false);
    expect((await request('/nope')).status).toBe(404);
    for (const path of ['/healthz', '/metrics', '/exec/x', '/logs/', '/debug/pprof/'])
      expect((await request(path)).status).toBe(401);
  });

  test('an upgrade requires authentication', async () => {
    const {request, runtime} = await start(false);
    const headers = {connection: 'Upgrade', upgrade: 'SPDY/3.1'};
    const {status} = await request('/exec/team/web/main?output=1', {method: 'POST', headers});
    expect(status).toBe(401);
    expect(runtime.callsTo('Exec')).toHaveLength(0);
  });
});

describe('authorization', () => {
  test.each([
    ['alice', alice, '/configz', 200],
    ['bob', bob, '/metrics', 200],
    ['bob', bob, '/stats/summary', 200],
    ['bob', bob, '/pods', 403],
    ['an anonymous user', undefined, '/metrics/resource', 200],
    ['an anonymous user', undefined, '/containerLogs/team/web/main', 403],
  ])('%s gets the expected status: %#', async (_name, client, path, status) => {
    const {request} = await start(true, POLICY);
    expect((await request(path, client === undefined ? {} : {client})).status).toBe(status);
  });

  test("a denied request gets the kubelet's message", async () => {
    const {request} = await start(true, POLICY);
    expect(await request('/run/team/web/main?cmd=id', {method: 'POST', client: bob})).toMatchObject({
      status: 403,
      body: 'Forbidden (user=bob, verb=create, resource=nodes, subresource(s)=[proxy])\n',
    });
    expect((await request('/pods')).body).toBe(
      'Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource(s)=[pods proxy])\n',
    );
  });

  test.each([
    ['GET', ['pods'], 'get', ['pods', 'proxy']],
    ['GET', ['stats', 'summary'], 'get', ['stats']],
    ['POST', ['checkpoint', 'a', 'b', 'c'], 'create', ['checkpoint']],
    ['GET', ['logs'], 'get', ['log']],
    ['DELETE', ['exec'], 'delete', ['proxy']],
    ['GET', ['constructor'], 'get', ['proxy']],
    ['HEAD', ['metrics'], '', ['metrics']],
  ])('%s %s needs %s on %s', (method, parts, verb, subresources) => {
    expect(getRequestAttributes(method, parts)).toEqual({verb, subresources});
  });

  test('resource names of a rule limit it to those nodes', () => {
    const admin = {name: 'x', groups: ['admins']};
    const request = getRequestAttributes('GET', ['pods']);
    expect(parseAuthorizationPolicy(POLICY, 'p.yaml', 'node-1')(admin, request)).toBe(true);
    expect(parseAuthorizationPolicy(POLICY, 'p.yaml', 'node-2')(admin, request)).toBe(false);
  });

  test.each([
    ['kind: Pod\napiVersion: v1', /p.yaml:1:1: must be a ClusterRole/],
    [POLICY.replace('nodes/stats', '5: 6'), /resources/],
    [
      POLICY.replace('roleRef: {kind: ClusterRole, name: all}', 'roleRef: {kind: Role, name: all}'),
      /Role "all" not found in the file/,
    ],
    [POLICY.replace('verbs: [get]', 'verb: [get]'), /verb/],
  ])('an invalid policy is rejected as a whole: %#', (policy, message) => {
    expect(() => parseAuthorizationPolicy(policy, 'p.yaml', 'node-1')).toThrow(message);
  });
});
