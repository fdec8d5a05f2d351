import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import type {Fault, RecordedRequest} from '../../fakes/api-server/api-request.js';
import {anImage, BUSYBOX} from '../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import {GOLDEN_NODE} from '../golden-cases.js';
import {apiBehaviour, apiExec} from './api-behaviour.js';
import {applyObject} from './api-admission.js';
import {readApiCase, type ApiAction, type ApiCase, type CanonicalRun} from './api-cases.js';
import {canonicalRun} from './canonical-api.js';
import {kubectl} from './kubectl-actions.js';
import {isInState} from './wait-conditions.js';

const SIGKILLED = 137;
/** Registry of the recordings. */
const REGISTRY = 'localhost:17530';
const LINGER_MS = 2500;
const GONE_MS = 60_000;

/** A fault as the recordings describe it. */
interface RecordedFault {
  readonly match: string;
  readonly code: number;
  readonly times: number;
  readonly body?: {readonly reason?: string; readonly message?: string};
}

/** A recorded case and what kcri did in it. */
export interface ApiPlayResult {
  readonly recorded: ApiCase;
  readonly actual: CanonicalRun;
}

/** Plays a case with a fake API server and a fake runtime, as the recorder did with a kubelet. */
export async function playApiCase(name: string, stepMs?: number): Promise<ApiPlayResult> {
  const directory = await temporaryDirectory();
  const host = join(directory, 'host');
  await mkdir(host);
  const {nodeName} = GOLDEN_NODE;
  const recorded = readApiCase(name, {'@HOST@': host, '@REG@': REGISTRY, '@NODE@': nodeName});
  await using testbed = await ClusterTestbed.start(
    (api) => {
      api.create('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        data: {'ca.crt': 'ca'},
      });
      for (const [verb, fault] of recorded.run.before ?? [])
        if (verb === 'fault') inject(api, fault as RecordedFault);
    },
    {
      ...(stepMs !== undefined && {stepMs}),
      runtime: {
        images: [anImage({name: BUSYBOX})],
        registry: ['some/x:1', 'x:1', 'auth/x:1'].map((image) =>
          anImage({name: `${REGISTRY}/${image}`, size: 1_032_138}),
        ),
        behaviour: apiBehaviour,
        exec: apiExec,
        runtimeHandlers: ['second'],
        supplementalGroups: ['0'],
      },
    },
  );
  const {fake} = testbed.daemon;
  fake.injectDelay('RunPodSandbox', 900);
  fake.injectDelay('CreateContainer', 400);
  fake.injectDelay('StartContainer', 300, {afterEffect: true});
  const player = new Player(testbed, recorded);
  await player.play();
  const {requests} = testbed.api;
  const uids = player.pods().map(({metadata}): [string, string] => [metadata.uid, `<UID:${metadata.name}>`]);
  const labels = [
    ...uids,
    [nodeName, '<NODE>'],
    [REGISTRY, '<REGISTRY>'],
    [host, '<HOST>'],
    ['_default(', '_<NS>('],
    ['"default"/', '"<NS>"/'],
  ] as const;
  return {recorded, actual: canonicalRun({requests, events: testbed.events('Pod'), labels})};
}

function inject(api: ClusterTestbed['api'], {match, code, times, body}: RecordedFault): void {
  const pattern = new RegExp(match);
  const line = ({method, path, query}: RecordedRequest): string =>
    `${method} ${path}?${new URLSearchParams(query).toString()}`;
  const fault: Fault = {code, message: 'injected', ...body};
  api.inject((request) => pattern.test(line(request)), fault, times);
}

class Player {
  readonly #testbed: ClusterTestbed;
  readonly #recorded: ApiCase;
  readonly #pods = new Map<string, {readonly metadata: {readonly name: string; readonly uid: string}}>();

  constructor(testbed: ClusterTestbed, recorded: ApiCase) {
    this.#testbed = testbed;
    this.#recorded = recorded;
  }

  /** Pods of the case, also deleted ones. */
  pods(): readonly {readonly metadata: {readonly name: string; readonly uid: string}}[] {
    return [...this.#pods.values()];
  }

  async play(): Promise<void> {
    const {api, daemon} = this.#testbed;
    const {run, objects} = this.#recorded;
    const ready = '/api/v1/nodes/goldennode';
    await daemon.until('the node is registered', () => api.storage.get(ready) !== undefined);
    for (const object of objects) applyObject(api, object, GOLDEN_NODE.nodeName);
    for (const pod of api.storage.list('/api/v1/pods')) this.#pods.set(pod.metadata.uid, pod);
    const appliedAt = daemon.clock.now();
    for (const action of run.actions ?? []) await this.#act(action, appliedAt);
    await this.#waitUntil(appliedAt + (run.settle ?? 10) * 1000);
    for (const {metadata} of api.storage.list('/api/v1/pods'))
      if (metadata.deletionTimestamp === undefined) api.deletePod(metadata.name);
    const end = daemon.clock.now() + GONE_MS;
    await daemon.until(
      'the pods are gone',
      () => daemon.clock.now() > end || api.storage.list('/api/v1/pods').length === 0,
    );
    await this.#waitUntil(daemon.clock.now() + LINGER_MS);
  }

  async #waitUntil(time: number): Promise<void> {
    const {clock} = this.#testbed.daemon;
    if (time > clock.now()) await clock.sleep(time - clock.now());
  }

  async #act([at, verb, ...args]: ApiAction, appliedAt: number): Promise<void> {
    const {clock} = this.#testbed.daemon;
    const time = typeof at === 'number' ? appliedAt + at * 1000 : clock.now() + Number(at) * 1000;
    await this.#waitUntil(time);
    const act = this.#verbs[verb];
    if (act === undefined) throw new Error(`unknown action ${verb}`);
    await act(...(args as string[]));
  }

  readonly #verbs: Readonly<Record<string, (...args: string[]) => Promise<void> | void>> = {
    wait: async (pod = '', condition = '') => {
      const {api, daemon} = this.#testbed;
      await daemon.until(`${pod} is ${condition}`, () => isInState(api.pod(pod), condition));
    },
    delete: (pod = '', ...options) => {
      const [, grace] = /--grace-period=(\d+)/.exec(options.join(' ')) ?? [];
      this.#testbed.api.deletePod(pod, grace === undefined ? undefined : Number(grace));
    },
    apply: (file = '') => {
      for (const object of this.#recorded.files?.[file] ?? [])
        applyObject(this.#testbed.api, object, GOLDEN_NODE.nodeName);
    },
    kubectl: (command = '') => {
      kubectl(this.#testbed.api, command);
    },
    'kubectl-in': (input = '', command = '') => {
      kubectl(this.#testbed.api, command, input);
    },
    fault: (fault) => {
      inject(this.#testbed.api, fault as unknown as RecordedFault);
    },
    nofault: () => {
      this.#testbed.api.clearFaults();
    },
    kill: (container = '') => {
      this.#testbed.daemon.kill(container, SIGKILLED);
    },
    'stop-kubelet': async () => this.#testbed.daemon.stop(),
    'start-kubelet': () => {
      this.#testbed.daemon.run();
    },
    'restart-kubelet': async () => {
      await this.#testbed.daemon.stop();
      this.#testbed.daemon.run();
    },
    'api-down': async () => this.#testbed.api.refuse(),
    'api-up': async () => this.#testbed.api.listen(),
    // They only print what is not compared here.
    sh: () => undefined,
    mark: () => undefined,
    snapshot: () => undefined,
  };
}
