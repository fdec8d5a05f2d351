import {spawn, type ChildProcess} from 'node:child_process';
import {generateKeyPairSync} from 'node:crypto';
import {once} from 'node:events';
import {closeSync, openSync, readFileSync} from 'node:fs';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {until} from '../base/until.js';
import {freePorts} from '../base/free-ports.js';
import {kubectlFor, type Kubectl} from '../e2e/harness/kubectl.js';
import {createClientCertificate} from '../kubelet/server/auth/client-certificate.js';

const DAY_MS = 86_400_000;
const ADMIN = 'admin';
/** Users of the control plane and their groups. */
const USERS: Readonly<Record<string, readonly string[]>> = {
  [ADMIN]: ['system:masters'],
  'kube-apiserver-kubelet-client': ['system:masters'],
  'system:kube-controller-manager': [],
  'system:kube-scheduler': [],
};

/** A Kubernetes control plane on this machine, without add-ons. */
export interface ControlPlane extends AsyncDisposable {
  /** kubectl of a user who may do everything. */
  readonly kubectl: Kubectl;
  /** File with the authorities of clients; kubelets need it to authenticate the API server. */
  readonly clientCaFile: string;
  /** Returns the path of the kubeconfig of a node. */
  readonly kubeconfigOf: (node: string) => string;
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler from the directory `programs` for nodes with these
 * names; without `controllers` only the first two. Their logs are shown if the API server does not become ready.
 */
export async function startControlPlane(
  programs: string,
  nodes: readonly string[],
  {controllers = true}: {readonly controllers?: boolean} = {},
): Promise<ControlPlane> {
  const dir = await mkdtemp(join(tmpdir(), 'kcri-cluster-'));
  const file = (name: string): string => join(dir, name);
  const [etcdPort = 0, peerPort = 0, apiPort = 0] = await freePorts(3);
  const server = `https://127.0.0.1:${apiPort}`;
  await writeCredentials(file, server, nodes);
  const processes = new Map<string, ChildProcess>();
  const start = (name: string, flags: Readonly<Record<string, string>>): void => {
    const log = openSync(file(`${name}.log`), 'a');
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    processes.set(name, spawn(join(programs, name), args, {cwd: dir, stdio: ['ignore', log, log]}));
    closeSync(log);
  };
  const stop = async (name: string): Promise<void> => {
    const child = processes.get(name);
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  const kubectl = kubectlFor(file(`${ADMIN}.kubeconfig`), dir);
  const startApiServer = async (): Promise<void> => {
    start('kube-apiserver', apiServerFlags(file, etcdPort, apiPort));
    await until(
      async () => (await kubectl.run(['get', '--raw', '/readyz'])).exitCode === 0,
      () => `a ready API server: ${readFileSync(file('kube-apiserver.log'), 'utf8').slice(-5000)}`,
    );
  };
  start('etcd', etcdFlags(file, etcdPort, peerPort));
  await startApiServer();
  if (controllers) startControllers(file, start);
  return {
    kubectl,
    clientCaFile: file('clients.crt'),
    kubeconfigOf: (node) => file(`system:node:${node}.kubeconfig`),
    stopApiServer: () => stop('kube-apiserver'),
    startApiServer,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...processes.keys()].map(stop));
      await rm(dir, {recursive: true});
    },
  };
}

function startControllers(file: (name: string) => string, start: (name: string, flags: Flags) => void): void {
  start('kube-controller-manager', {
    kubeconfig: file('system:kube-controller-manager.kubeconfig'),
    'use-service-account-credentials': 'true',
    'service-account-private-key-file': file('sa.key'),
    'root-ca-file': file('server.crt'),
    'secure-port': '0',
    'leader-elect': 'false',
  });
  start('kube-scheduler', {
    kubeconfig: file('system:kube-scheduler.kubeconfig'),
    'secure-port': '0',
    'leader-elect': 'false',
  });
}

/** Writes keys, certificates and kubeconfigs. Each client certificate is its own authority. */
async function writeCredentials(
  file: (name: string) => string,
  server: string,
  nodes: readonly string[],
): Promise<void> {
  await mkdir(file('etcd'));
  const now = Date.now();
  const serving = createSelfSignedPair({
    commonName: 'kube-apiserver',
    names: ['127.0.0.1', 'kubernetes.default.svc'],
    ...{notBeforeMs: now - DAY_MS, notAfterMs: now + DAY_MS},
  });
  await writeFile(file('server.crt'), serving.certificate);
  await writeFile(file('server.key'), serving.key, {mode: 0o600});
  const serviceAccounts = generateKeyPairSync('ec', {namedCurve: 'P-256'});
  await writeFile(file('sa.pub'), serviceAccounts.publicKey.export({type: 'spki', format: 'pem'}));
  const signingKey = serviceAccounts.privateKey.export({type: 'sec1', format: 'pem'});
  await writeFile(file('sa.key'), signingKey, {mode: 0o600});
  const ofNodes = nodes.map((node) => [`system:node:${node}`, ['system:nodes']] as const);
  const authorities: string[] = [];
  for (const [user, groups] of [...Object.entries(USERS), ...ofNodes]) {
    const {certificate, key} = createClientCertificate(user, ...groups);
    authorities.push(certificate);
    await writeFile(file(`${user}.crt`), certificate);
    await writeFile(file(`${user}.key`), key, {mode: 0o600});
    await writeFile(file(`${user}.kubeconfig`), kubeconfig(server, user));
  }
  await writeFile(file('clients.crt'), authorities.join(''));
}

function kubeconfig(server: string, user: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{name: 'test', cluster: {server, 'certificate-authority': 'server.crt'}}],
    users: [{name: user, user: {'client-certificate': `${user}.crt`, 'client-key': `${user}.key`}}],
    contexts: [{name: 'test', context: {cluster: 'test', user}}],
  });
}

type Flags = Readonly<Record<string, string>>;

function etcdFlags(file: (name: string) => string, port: number, peerPort: number): Flags {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return {
    name: 'test',
    'data-dir': file('etcd'),
    'unsafe-no-fsync': 'true',
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `test=${peer}`,
  };
}

function apiServerFlags(file: (name: string) => string, etcdPort: number, port: number): Flags {
  return {
    'etcd-servers': `http://127.0.0.1:${etcdPort}`,
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'client-ca-file': file('clients.crt'),
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'service-cluster-ip-range': '10.96.0.0/24',
    // The loopback address must not be an endpoint.
    'endpoint-reconciler-type': 'none',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': file('sa.pub'),
    'service-account-signing-key-file': file('sa.key'),
    'kubelet-client-certificate': file('kube-apiserver-kubelet-client.crt'),
    'kubelet-client-key': file('kube-apiserver-kubelet-client.key'),
    'kubelet-preferred-address-types': 'InternalIP',
    'allow-privileged': 'true',
  };
}
