import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {policyOf} from '../../../src/kubelet/server/access/policy.js';
import {requestAttributes} from '../../../src/kubelet/server/access/attributes.js';
import {selfSignedPair} from '../../../src/kubelet/server/certificate/self-signed.js';
import {clientPair} from './client-pair.js';
import {clusterRole, clusterRoleBinding, policyFile} from './rbac.js';
import {startGround, type ServerGround} from './server-ground.js';

const alice = clientPair('alice', 'admins', 'people');
const bob = clientPair('bob');
const stranger = clientPair('alice', 'admins');
const server = selfSignedPair({commonName: 'alice', names: ['alice'], notBeforeMs: 0, notAfterMs: 4e12});

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

async function start(anonymous: boolean, policy?: string, clock = systemClock): Promise<ServerGround> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-access-'));
  onTestFinished(() => rm(directory, {recursive: true}));
  const clientCaFile = join(directory, 'ca.crt');
  await writeFile(clientCaFile, [alice, bob, server].map(({certificate}) => certificate).join(''));
  const path = policy === undefined ? undefined : join(directory, 'policy.yaml');
  if (path !== undefined && policy !== undefined) await writeFile(path, policy);
  return await startGround({access: {anonymous, clientCaFile, policyFile: path}, options: {clock}});
}

describe('who is let in', () => {
  test.each([
    ['nobody, where that is allowed', true, undefined, 200],
    ['nobody, where that is not allowed', false, undefined, 401],
    ['who is known', false, alice, 200],
    ['who shows a certificate of nobody trusted', false, stranger, 401],
    ['the same where nobody is let in', true, stranger, 401],
    ["who shows a server's certificate", true, server, 401],
  ])('%s', async (_who, anonymous, client, status) => {
    const {ask} = await start(anonymous);
    const answer = await ask('/pods', client === undefined ? {} : {client});
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.body).toBe('Unauthorized');
  });

  test('nobody whose certificate has run out since', async () => {
    const {ask} = await start(true, undefined, {...systemClock, now: () => Date.UTC(2121)});
    expect((await ask('/pods', {client: alice})).status).toBe(401);
    expect((await ask('/pods')).status).toBe(200);
  });

  test('a path that is not served says so to everybody, and nothing else does', async () => {
    const {ask} = await start(false);
    expect((await ask('/nope')).status).toBe(404);
    for (const path of ['/healthz', '/metrics', '/exec/x', '/logs/', '/debug/pprof/'])
      expect((await ask(path)).status).toBe(401);
  });

  test('an upgrade is let in no sooner', async () => {
    const {ask, runtime} = await start(false);
    const headers = {connection: 'Upgrade', upgrade: 'SPDY/3.1'};
    const {status} = await ask('/exec/team/web/main?output=1', {method: 'POST', headers});
    expect(status).toBe(401);
    expect(runtime.callsTo('Exec')).toHaveLength(0);
  });
});

describe('who may do what', () => {
  test.each([
    ['alice', alice, '/configz', 200],
    ['bob', bob, '/metrics', 200],
    ['bob', bob, '/stats/summary', 200],
    ['bob', bob, '/pods', 403],
    ['nobody', undefined, '/metrics/resource', 200],
    ['nobody', undefined, '/containerLogs/team/web/main', 403],
  ])('%s %#', async (_name, client, path, status) => {
    const {ask} = await start(true, POLICY);
    expect((await ask(path, client === undefined ? {} : {client})).status).toBe(status);
  });

  test('is told in the words of the kubelet', async () => {
    const {ask} = await start(true, POLICY);
    expect(await ask('/run/team/web/main?cmd=id', {method: 'POST', client: bob})).toMatchObject({
      status: 403,
      body: 'Forbidden (user=bob, verb=create, resource=nodes, subresource(s)=[proxy])\n',
    });
    expect((await ask('/pods')).body).toBe(
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
  ])('%s %s is %s on %s', (method, parts, verb, subresources) => {
    expect(requestAttributes(method, parts)).toEqual({verb, subresources});
  });

  test('counts for this node only', () => {
    const admin = {name: 'x', groups: ['admins']};
    const request = requestAttributes('GET', ['pods']);
    expect(policyOf(POLICY, 'p.yaml', 'node-1')(admin, request)).toBe(true);
    expect(policyOf(POLICY, 'p.yaml', 'node-2')(admin, request)).toBe(false);
  });

  test.each([
    ['kind: Pod\napiVersion: v1', /p.yaml:1:1: must be a ClusterRole/],
    [POLICY.replace('nodes/stats', '5: 6'), /resources/],
    [
      POLICY.replace('roleRef: {kind: ClusterRole, name: all}', 'roleRef: {kind: Role, name: all}'),
      /the Role "all"/,
    ],
    [POLICY.replace('verbs: [get]', 'verb: [get]'), /verb/],
  ])('a policy that is wrong is refused as a whole: %#', (policy, message) => {
    expect(() => policyOf(policy, 'p.yaml', 'node-1')).toThrow(message);
  });
});
