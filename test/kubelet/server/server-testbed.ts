import {mkdir, writeFile} from 'node:fs/promises';
import {request as httpRequest, type IncomingHttpHeaders} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect, podUid} from '../../../src/cri/index.js';
import {readRuntimePodStatus} from '../../../src/kubelet/managers/kuberuntime/read-runtime-pod-status.js';
import {KubeletMetricsRegistry} from '../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import type {CertificatePair} from '../../../src/format/x509/x509-parts.js';
import type {RunningServers, ServerOptions} from '../../../src/kubelet/server/http-server-options.js';
import type {ServedKubelet} from '../../../src/kubelet/server/served-kubelet.js';
import {startServers} from '../../../src/kubelet/server/start-servers.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainerStatus, aPod} from '../../fakes/a-pod.js';
import {aContainer, aSandbox, FakeRuntime, type FakeRuntimeOptions} from '../../fakes/fake-runtime.js';

/** A kubelet's servers, with the pod `team/web` and its running container `main`, and the parts that tests change. */
export interface ServerTestbed {
  readonly servers: RunningServers;
  readonly runtime: FakeRuntime;
  readonly directory: string;
  readonly logPath: string;
  readonly kubelet: {-readonly [Name in keyof ServedKubelet]: ServedKubelet[Name]};
  readonly end: AbortController;
  /** Sends a request to the authenticated port. */
  readonly request: (path: string, options?: ServerRequestOptions) => Promise<ReceivedResponse>;
}

export interface ServerTestbedOptions {
  readonly runtime?: FakeRuntimeOptions;
  readonly options?: Partial<ServerOptions>;
  readonly access?: Partial<ServerOptions['access']>;
  readonly tty?: boolean;
  readonly healthChecks?: ServedKubelet['healthChecks'];
}

export const UID = 'uid-of-web';
const CGROUPFS = {version: 2, driver: 'cgroupfs', root: '', swapAccounting: true} as const;

export function webPod(status = runningStatus(), tty = false): Pod {
  return {
    ...aPod({containers: [{name: 'main', image: 'busybox', tty}]}, {namespace: 'team', uid: UID}),
    status,
  };
}

export function runningStatus(): NonNullable<Pod['status']> {
  const state = {running: {startedAt: '2026-01-01T00:00:00Z'}};
  const main = aContainerStatus({ready: true, containerID: 'containerd://main-id', state, lastState: {}});
  return {phase: 'Running', containerStatuses: [main]};
}

/** Starts the servers on free ports; they stop when the test finishes. */
export async function startServerTestbed(given: ServerTestbedOptions = {}): Promise<ServerTestbed> {
  const directory = await temporaryDirectory();
  const logPath = join(directory, 'main.log');
  await writeFile(logPath, '');
  await mkdir(join(directory, 'log'));
  const runtime = await FakeRuntime.start({
    ...given.runtime,
    containers: [
      aContainer({
        id: 'main-id',
        name: 'main',
        logPath,
        sandbox: aSandbox({id: 'sandbox-id', name: 'web', namespace: 'team', uid: UID}),
      }),
    ],
  });
  onTestFinished(() => runtime.stop());
  const connection = connect(runtime.endpoint);
  onTestFinished(() => {
    connection.close();
  });
  const kubelet = await servedKubelet(connection.runtime, given);
  const end = new AbortController();
  const servers = await startServers(
    kubelet,
    {
      node: {
        ...{nodeName: 'node-1', rootDir: directory, podLogsDir: directory},
        ...{cgroup: CGROUPFS, cgroupMount: join(directory, 'cgroup')},
      },
      runtime: connection.runtime,
      images: connection.images,
      clock: systemClock,
      logger: SILENT_LOGGER,
      metrics: new KubeletMetricsRegistry(systemClock, 'node-1'),
      main: {address: '127.0.0.1', port: 0},
      readOnly: {address: '127.0.0.1', port: 0},
      health: {address: '127.0.0.1', port: 0},
      certificate: {certDir: join(directory, 'pki'), names: []},
      access: {anonymous: true, ...given.access},
      debuggingHandlers: true,
      systemLogHandler: true,
      systemLogQuery: false,
      profilingHandler: true,
      systemLogDir: join(directory, 'log'),
      streamingIdleTimeoutMs: 0,
      syncFrequencyMs: 60_000,
      volumeStatsPeriodMs: 60_000,
      program: {version: '1.2.3', flags: {}},
      configuration: {kind: 'KubeletConfiguration', port: 10250},
      ...given.options,
    },
    end.signal,
  );
  onTestFinished(async () => {
    end.abort();
    await servers.closed;
  });
  const request = async (path: string, options?: ServerRequestOptions): Promise<ReceivedResponse> =>
    await requestAt(servers.urls.main ?? '', path, options);
  return {servers, runtime, directory, logPath, kubelet, end, request};
}

async function servedKubelet(
  runtime: ReturnType<typeof connect>['runtime'],
  {tty = false, healthChecks = []}: ServerTestbedOptions,
): Promise<ServerTestbed['kubelet']> {
  const ref = {uid: podUid(UID), name: 'web', namespace: 'team'};
  const status = await readRuntimePodStatus(runtime, ref);
  return {
    pods: () => [webPod(runningStatus(), tty)],
    runningPods: () => [{...ref, isRunning: true}],
    runtimeStatus: () => status,
    isActive: () => true,
    volumes: () => [],
    workers: () => [],
    healthChecks,
    lastActiveAt: Date.now(),
  };
}

export interface ServerRequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly client?: CertificatePair;
  readonly body?: string | undefined;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request on a new connection without verifying the server certificate; the path is sent unchanged. */
export async function requestAt(
  url: string,
  path: string,
  options: ServerRequestOptions = {},
): Promise<ReceivedResponse> {
  const {method = 'GET', headers = {}, client, body} = options;
  const {hostname, port} = new URL(url);
  const target = {hostname, port, path, method, headers, agent: false};
  const credentials = client === undefined ? {} : {cert: client.certificate, key: client.key};
  const sent = url.startsWith('https')
    ? httpsRequest({...target, ...credentials, rejectUnauthorized: false})
    : httpRequest(target);
  return await new Promise((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response) => {
      const {statusCode = 0} = response;
      text(response).then((body) => {
        resolve({status: statusCode, headers: response.headers, body});
      }, reject);
    });
    sent.end(body);
  });
}
