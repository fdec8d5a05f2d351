import {X509Certificate} from 'node:crypto';
import {get as getHttp} from 'node:http';
import {get as getHttps} from 'node:https';
import {join} from 'node:path';
import type {EnvironmentContext, SettingsContext} from '../../../cli/command/contexts.js';
import {hasErrno, KcriError} from '../../../base/errors.js';
import {KUBELET_ROOT_DIR} from '../../../base/host/kubelet-root-dir.js';
import {findPortOwner, type ListeningSocket} from '../../../base/host/find-port-owner.js';
import {lastFlagValue} from '../../../base/host/last-flag-value.js';
import {findKubelet, queryKubelet, readKubeletConfig} from '../../../kubelet/index.js';
import {mapFact, valueOf, type Fact} from '../fact.js';
import type {
  CertificateFacts,
  HttpAnswer,
  KubeletConfigFacts,
  KubeletFacts,
  KubeletProcess,
  OwnKubelet,
} from '../node-snapshot.js';
import {readApiServer} from './api-server.js';
import type {FileReader} from './file-reader.js';
import {readListeningSockets} from './listening-sockets.js';

/** File that kubeadm writes. */
const CONFIG_FILE = join(KUBELET_ROOT_DIR, 'config.yaml');
/** Ports of a kubelet whose configuration is unknown. */
const DEFAULT_PORTS = {healthz: 10_248, api: 10_250, readOnly: 10_255};
const NONE: Fact<never> = {error: 'no kubelet runs'};
const OFF = Promise.resolve<Fact<never>>({error: 'healthzPort is 0'});

type Services = EnvironmentContext & SettingsContext;

/** Reads what is known about the kubelet of kcri with this root directory, and about a process named kubelet. */
export async function readKubelet(
  {context: {clock}, settings: {rootDir}}: Services,
  node: FileReader,
  {processes, signal}: {readonly processes: Fact<readonly KubeletProcess[]>; readonly signal: AbortSignal},
): Promise<KubeletFacts> {
  const own = await node.onNode<OwnKubelet | null>(async () => {
    if ((await findKubelet(rootDir)) === undefined) return null;
    const report = await queryKubelet(rootDir, {uids: []}, {clock, signal});
    const {pid, errors, pressures = [], manifestProblems = [], lastActiveAt, pleg} = report;
    return {
      pid,
      lastActiveAt,
      pleg,
      errors,
      pressures,
      manifestProblems: manifestProblems
        .filter(({level}) => level === 'error')
        .map(({place, message}) => ({place, message})),
    };
  }, 'kubelet of kcri');
  const sockets = await readListeningSockets(node);
  const [kubelet] = valueOf(processes) ?? [];
  if (kubelet === undefined)
    return {
      ...{own, processes, config: NONE, healthz: NONE, anonymous: NONE, readOnly: NONE, certificates: []},
      listeners: await readListeners(sockets, [DEFAULT_PORTS.api, DEFAULT_PORTS.healthz], {node, signal}),
      apiServer: NONE,
    };
  const configPath = lastFlagValue(kubelet.argv, 'config') ?? CONFIG_FILE;
  const directory =
    lastFlagValue(kubelet.argv, 'cert-dir') ??
    join(lastFlagValue(kubelet.argv, 'root-dir') ?? KUBELET_ROOT_DIR, 'pki');
  const ask = async (url: string): Promise<Fact<HttpAnswer>> =>
    await node.onNode(
      async () => await answerOf(url, signal),
      url,
      async (probe) => await (await import('./remote-probes.js')).remoteHttpAnswer(url, sockets, probe),
    );
  const config = await readConfig(configPath, node);
  const {healthz: healthzPort, api, readOnly: readOnlyPort} = valueOf(config)?.ports ?? DEFAULT_PORTS;
  const [healthz, anonymous, readOnly, listeners, apiServer, certificates] = await Promise.all([
    healthzPort === 0 ? OFF : ask(`http://127.0.0.1:${healthzPort}/healthz`),
    ask(`https://127.0.0.1:${api}/pods`),
    ask(`http://127.0.0.1:${readOnlyPort === 0 ? DEFAULT_PORTS.readOnly : readOnlyPort}/pods`),
    readListeners(sockets, [api, healthzPort], {node, signal}),
    readApiServer(kubelet, node, {clock, signal}),
    Promise.all(
      ['kubelet-client-current.pem', 'kubelet-server-current.pem', 'kubelet.crt'].map(
        async (name) => await readCertificate(join(directory, name), node),
      ),
    ),
  ]);
  return {own, processes, config, healthz, anonymous, readOnly, certificates, listeners, apiServer};
}

/** Reads what listens on the ports of a kubelet. */
async function readListeners(
  sockets: Fact<readonly ListeningSocket[]>,
  ports: readonly number[],
  {node, signal}: {readonly node: FileReader; readonly signal: AbortSignal},
): Promise<KubeletFacts['listeners']> {
  if ('error' in sockets) return sockets;
  const open = sockets.value.filter(({port}) => ports.includes(port));
  const taken = ports.filter((port) => open.some((socket) => socket.port === port));
  if (taken.length === 0) return {value: []};
  return await node.onNode(
    async () =>
      await Promise.all(
        taken.map(async (port) => {
          const process = await findPortOwner(port, signal);
          return {port, ...(process !== undefined && {process})};
        }),
      ),
    `owner of port ${taken.join(' and ')}`,
    async (probe) => await (await import('./remote-probes.js')).remotePortOwners(open, probe),
  );
}

async function readConfig(path: string, node: FileReader): Promise<Fact<KubeletConfigFacts>> {
  return mapFact(await node.text(path), (content) => {
    try {
      const {values, unsupported} = readKubeletConfig([{path, content}], new Map(), {
        joinsCluster: true,
        isLenient: true,
        defaults: {failSwapOn: true},
      });
      return {
        path,
        problems: [],
        // What only kcri does not support has its effect in another kubelet.
        ineffective: unsupported
          .filter(({reason}) => reason.startsWith('kubelet '))
          .map(({field, reason}) => `${field}: ${reason}`),
        cgroupDriver: values.cgroupDriver,
        failSwapOn: values.failSwapOn,
        ports: {healthz: values.healthzPort, api: values.port, readOnly: values.readOnlyPort},
      };
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      return {path, problems: error.message.split('\n'), ineffective: []};
    }
  });
}

/** Reads the dates of a certificate; its file may contain the key too, which is not kept. */
async function readCertificate(path: string, node: FileReader): Promise<CertificateFacts> {
  const text = await node.text(path);
  if ('error' in text) return {path, fact: text};
  return {
    path,
    fact: await node.fact(async () => {
      const {subject, validTo} = new X509Certificate(text.value);
      return Promise.resolve({subject, notAfter: new Date(validTo).toISOString()});
    }, path),
  };
}

/** Returns the status of an answer; 0 if nothing listens. Rejects with the error of the connection. */
async function answerOf(url: string, signal: AbortSignal): Promise<HttpAnswer> {
  const options = {agent: false, signal, rejectUnauthorized: false} as const;
  try {
    return await new Promise((resolve, reject) => {
      const request = (url.startsWith('https:') ? getHttps : getHttp)(url, options, (response) => {
        resolve({url, status: response.statusCode ?? 0});
        response.destroy();
      });
      request.once('error', reject);
    });
  } catch (error) {
    if (hasErrno(error, 'ECONNREFUSED')) return {url, status: 0};
    throw error;
  }
}
