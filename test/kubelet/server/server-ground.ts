import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {request as httpRequest, type IncomingHttpHeaders} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import type {Pod} from '../../../src/api/v1.js';
import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect, containerId, podSandboxId, podUid} from '../../../src/cri/index.js';
import type {RuntimePodStatus} from '../../../src/kubelet/container/pod-status.js';
import {KubeletRegistry} from '../../../src/kubelet/metrics/kubelet-registry.js';
import type {CertificatePair} from '../../../src/kubelet/server/certificate/self-signed.js';
import type {RunningServers, ServerOptions} from '../../../src/kubelet/server/options.js';
import type {ServedKubelet} from '../../../src/kubelet/server/served-kubelet.js';
import {startServers} from '../../../src/kubelet/server/start-servers.js';
import {aContainer, aSandbox, FakeRuntime, type FakeRuntimeOptions} from '../../fakes/fake-runtime.js';

/** A kubelet's servers with one pod, `team/web` of one container `main` that runs, and what a test changes of them. */
export interface ServerGround {
  readonly servers: RunningServers;
  readonly runtime: FakeRuntime;
  readonly directory: string;
  readonly logPath: string;
  readonly kubelet: {-readonly [Name in keyof ServedKubelet]: ServedKubelet[Name]};
  readonly end: AbortController;
  /** Asks the authenticated port. */
  readonly ask: (path: string, options?: AskOptions) => Promise<Asked>;
}

export interface GroundOptions {
  readonly runtime?: FakeRuntimeOptions;
  readonly options?: Partial<ServerOptions>;
  readonly access?: Partial<ServerOptions['access']>;
  readonly tty?: boolean;
}

export const UID = 'uid-of-web';

export function webPod(status = runningStatus(), tty = false): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'web', namespace: 'team', uid: UID},
    spec: {containers: [{name: 'main', image: 'busybox', tty}]},
    status,
  };
}

export function runningStatus(): NonNullable<Pod['status']> {
  const running = {startedAt: '2026-01-01T00:00:00Z'};
  return {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'main',
        image: 'busybox',
        imageID: '',
        ready: true,
        restartCount: 0,
        containerID: 'containerd://main-id',
        state: {running},
        lastState: {},
      },
    ],
  };
}

/** Starts them on free ports; they end with the test. */
export async function startGround(given: GroundOptions = {}): Promise<ServerGround> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-server-'));
  onTestFinished(() => rm(directory, {recursive: true}));
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
  const kubelet = await servedKubelet(connection.runtime, given.tty ?? false);
  const end = new AbortController();
  const servers = await startServers(
    kubelet,
    {
      node: {nodeName: 'node-1', rootDir: directory, podLogsDir: directory},
      runtime: connection.runtime,
      images: connection.images,
      clock: systemClock,
      logger: SILENT_LOGGER,
      metrics: new KubeletRegistry(systemClock, 'node-1'),
      main: {address: '127.0.0.1', port: 0},
      readOnly: {address: '127.0.0.1', port: 0},
      health: {address: '127.0.0.1', port: 0},
      certificate: {certDir: join(directory, 'pki'), names: []},
      access: {anonymous: true, ...given.access},
      debuggingHandlers: true,
      systemLogHandler: true,
      systemLogDir: join(directory, 'log'),
      streamingIdleTimeoutMs: 0,
      syncFrequencyMs: 60_000,
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
  const ask = async (path: string, options?: AskOptions): Promise<Asked> =>
    await askAt(servers.urls.main ?? '', path, options);
  return {servers, runtime, directory, logPath, kubelet, end, ask};
}

async function servedKubelet(
  runtime: ReturnType<typeof connect>['runtime'],
  tty: boolean,
): Promise<ServerGround['kubelet']> {
  const {status: cri} = await runtime.containerStatus({containerId: containerId('main-id')});
  const {status: sandbox} = await runtime.podSandboxStatus({podSandboxId: podSandboxId('sandbox-id')});
  const status: RuntimePodStatus = {
    uid: podUid(UID),
    name: 'web',
    namespace: 'team',
    ips: [],
    sandboxes: sandbox === undefined ? [] : [sandbox],
    containers:
      cri === undefined
        ? []
        : [
            {
              id: cri.id,
              sandboxId: podSandboxId('sandbox-id'),
              name: 'main',
              state: cri.state,
              restartCount: 0,
              hash: '',
              cri,
            },
          ],
  };
  return {
    pods: () => [webPod(runningStatus(), tty)],
    runningPods: () => [{uid: podUid(UID), name: 'web', namespace: 'team', isRunning: true}],
    runtimeStatus: () => status,
    isActive: () => true,
    workers: () => [],
    lastActiveAt: Date.now(),
  };
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly client?: CertificatePair;
}

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One request on a connection of its own, whatever its certificate; the path is sent as it is. */
export async function askAt(url: string, path: string, options: AskOptions = {}): Promise<Asked> {
  const {method = 'GET', headers = {}, client} = options;
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
    sent.end();
  });
}
