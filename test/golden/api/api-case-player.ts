import {readFile, rm} from 'node:fs/promises';
import {messageOf} from '../../../src/base/errors.js';
import type {FakeLogind} from '../../fakes/dbus/fake-logind.js';
import type {Fault, RecordedRequest} from '../../fakes/api-server/api-request.js';
import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import type {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import {GOLDEN_NODE} from '../golden-cases.js';
import {applyObject} from './api-admission.js';
import type {ApiAction, ApiCase, KubeletSettings, ManifestObject} from './api-cases.js';
import {lacksDevices} from './case-scheduler.js';
import {askPodResources, type CasePlugins} from './case-plugins.js';
import {signCertificates, STATIC_FILE} from './case-testbed.js';
import {kubectl} from './kubectl-actions.js';
import {evictPods, nodePath} from './node-actions.js';
import {sendServerRequests} from './server-requests.js';
import {isInState} from './wait-conditions.js';

const SIGKILLED = 137;
const LINGER_MS = 2500;
const GONE_MS = 60_000;
/** Time that kubectl takes on the machine of the recordings. */
const COMMAND_MS = 2000;
const MIRROR = 'kubernetes.io/config.mirror';
const {nodeName} = GOLDEN_NODE;
/** Commands that the API server passes to the kubelet's server. */
const STREAMED = /^(exec|attach|logs|port-forward|cp|get --raw) |\$KUBECTL (cp|exec) |^curl /;
const DELETE_AND_WAIT = /^delete pod (\S+) --wait=true$/;
const REMOVE_FILE = /^rm (?:-f )?(\S+)$/;
const SHUTDOWN = /say\.py \S+logind\.ctl (true|false)$/;
const RUN = /^run (\S+) .*--image=(\S+) .* -- (.*)$/;

/** A fault as the recordings describe it. */
export interface RecordedFault {
  readonly match: string;
  readonly code: number;
  readonly times: number;
  readonly body?: {readonly reason?: string; readonly message?: string};
}

/** Answers requests with a recorded fault. */
export function injectFault(api: FakeApiServer, {match, code, times, body}: RecordedFault): void {
  const pattern = new RegExp(match);
  const line = ({method, path, query}: RecordedRequest): string =>
    `${method} ${path}?${new URLSearchParams(query).toString()}`;
  const fault: Fault = {code, message: 'injected', ...body};
  api.inject((request) => pattern.test(line(request)), fault, times);
}

/** What of a node the actions change. */
interface PlayedNode {
  readonly plugins: CasePlugins;
  /** Undefined on a node without one. */
  readonly logind: FakeLogind | undefined;
  /** Changes the configuration of the next kubelet. */
  readonly configure: (changes: KubeletSettings) => void;
}

/** Performs the actions of a case. */
export class ApiCasePlayer {
  readonly #testbed: ClusterTestbed;
  readonly #recorded: ApiCase;
  readonly #plugins: CasePlugins;
  readonly #configure: PlayedNode['configure'];
  readonly #logind: FakeLogind | undefined;
  readonly #pods = new Map<string, StoredObject>();
  #answers: readonly (readonly unknown[])[] = [];
  /** State files that were kept, by the name under which the case keeps them. */
  readonly kept = new Map<string, string>();

  constructor(testbed: ClusterTestbed, recorded: ApiCase, {plugins, logind, configure}: PlayedNode) {
    this.#testbed = testbed;
    this.#plugins = plugins;
    this.#configure = configure;
    this.#logind = logind;
    this.#recorded = recorded;
    testbed.api.storage.watch('/api/v1/pods', 0, ({type, object}) => {
      if (type === 'ADDED') this.#pods.set(object.metadata.uid, object);
    });
  }

  /** Pods of the case as they were created, also deleted ones. */
  pods(): readonly StoredObject[] {
    return [...this.#pods.values()];
  }

  /** Requests to the kubelet's server with their answers. */
  get answers(): readonly (readonly unknown[])[] {
    return this.#answers;
  }

  async play(): Promise<void> {
    const {api, daemon} = this.#testbed;
    const {run, objects} = this.#recorded;
    await daemon.until('the node is ready', () => isInState(api.storage.get(nodePath(nodeName)), 'Ready'));
    for (const object of objects) applyObject(api, object, nodeName);
    evictPods(api, nodeName);
    const appliedAt = daemon.clock.now();
    for (const action of run.actions ?? []) await this.#act(action, appliedAt);
    await this.#waitUntil(appliedAt + (run.settle ?? 10) * 1000);
    if (run.teardown !== false) await this.#tearDown();
  }

  /** Deletes all pods and waits until they are gone. */
  async #tearDown(): Promise<void> {
    const {api, daemon} = this.#testbed;
    await daemon.remove(STATIC_FILE).catch(() => undefined);
    for (const {metadata} of api.storage.list('/api/v1/pods')) {
      const isMirror = Object.keys(metadata['annotations'] ?? {}).includes(MIRROR);
      if (metadata.deletionTimestamp === undefined && !isMirror) api.deletePod(metadata.name);
    }
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

  /** Runs a command of kubectl; all that the API server passes to the kubelet's server together. */
  async #kubectl(command: string, input?: string): Promise<void> {
    const {api} = this.#testbed;
    const [, name, image, args = ''] = RUN.exec(command) ?? [];
    if (name !== undefined) await this.#runPod(name, image ?? '', args.split(' '));
    else if (!STREAMED.test(command)) {
      kubectl(api, command, input);
      const [, deleted] = DELETE_AND_WAIT.exec(command) ?? [];
      if (deleted !== undefined)
        await this.#testbed.daemon.until(`${deleted} is gone`, () => api.pod(deleted) === undefined);
    } else {
      if (this.#answers.length === 0) this.#answers = await sendServerRequests(this.#testbed, this.#recorded);
      await this.#testbed.daemon.clock.sleep(COMMAND_MS);
    }
  }

  /** Creates a pod, attaches to its container, and deletes it, as `kubectl run -i --rm` does. */
  async #runPod(name: string, image: string, args: readonly string[]): Promise<void> {
    const {api, daemon} = this.#testbed;
    const container = {name, image, args, stdin: true, stdinOnce: true};
    const spec = {nodeName, restartPolicy: 'Never', containers: [container]};
    const labels = {run: name};
    applyObject(api, {apiVersion: 'v1', kind: 'Pod', metadata: {name, labels}, spec}, nodeName);
    await daemon.until(`${name} is ready`, () => isInState(api.pod(name), 'Ready'));
    this.#answers = await sendServerRequests(this.#testbed, this.#recorded);
    await daemon.until(`${name} has ended`, () => isInState(api.pod(name), 'Succeeded'));
    api.deletePod(name);
  }

  #pathOf(path: string): string {
    return path.replace('$ROOT', this.#testbed.daemon.rootDir);
  }

  async #putStatic(file: string): Promise<void> {
    const [manifest] = this.#recorded.files?.[file] ?? [];
    await this.#testbed.daemon.put(STATIC_FILE, JSON.stringify(manifest));
  }

  /** Closes all connections, so that requests that were not answered are sent again. */
  async #answerAgain(): Promise<void> {
    const {api} = this.#testbed;
    api.clearFaults();
    await api.refuse();
    await api.listen();
  }

  /** Creates or changes an object; the scheduler holds a pod back while others have the devices that it requests. */
  #apply(object: ManifestObject): void {
    const {api} = this.#testbed;
    let isHeld = lacksDevices(api, object);
    if (!isHeld) {
      applyObject(api, object, nodeName);
      return;
    }
    for (const resources of ['/api/v1/pods', '/api/v1/nodes'])
      api.storage.watch(resources, 0, () => {
        if (!isHeld || lacksDevices(api, object)) return;
        isHeld = false;
        applyObject(api, object, nodeName);
      });
  }

  /** Runs a kubelet that cannot start, and keeps its error. */
  async #failToStart(): Promise<void> {
    const {daemon} = this.#testbed;
    daemon.run();
    const message = await daemon.ended.then(() => 'it has started', messageOf);
    this.kept.set('error', JSON.stringify({message: message.replaceAll(daemon.rootDir, '<ROOT>')}));
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
      for (const object of this.#recorded.files?.[file] ?? []) this.#apply(object);
    },
    config: (changes) => {
      this.#configure(changes as unknown as KubeletSettings);
    },
    static: async (file = '') => this.#putStatic(file),
    'static-delete': async (file = '') => this.#testbed.daemon.remove(file),
    kubectl: async (command = '') => this.#kubectl(command),
    'kubectl-in': async (input = '', command = '') => this.#kubectl(command, input),
    'kubectl-bg': async (_seconds = '', command = '') => this.#kubectl(command),
    fault: (fault) => {
      injectFault(this.#testbed.api, fault as unknown as RecordedFault);
    },
    nofault: () => {
      this.#testbed.api.clearFaults();
    },
    kill: (container = '') => {
      this.#testbed.daemon.killAll(container, SIGKILLED);
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
    'api-hang': () => {
      this.#testbed.api.inject(() => true, 'hang');
      this.#testbed.api.watches.stall();
    },
    'api-up': async () => (this.#testbed.api.isListening ? this.#answerAgain() : this.#testbed.api.listen()),
    sh: async (script = '') => {
      const [, removed] = REMOVE_FILE.exec(script) ?? [];
      const [, isShuttingDown] = SHUTDOWN.exec(script) ?? [];
      if (removed !== undefined) await rm(this.#pathOf(removed));
      else if (isShuttingDown !== undefined) this.#logind?.prepareForShutdown(isShuttingDown === 'true');
      else if (script.includes('@BIN@/kubelet')) await this.#failToStart();
      else if (script.includes('certificate approve'))
        signCertificates(this.#testbed.api, 'kubernetes.io/kubelet-serving');
      else await this.#kubectl(script);
    },
    keep: async (path = '', name = '') => {
      this.kept.set(name, await readFile(this.#pathOf(path), 'utf8'));
    },
    plug: async (name = '', command = '') => this.#plugins.plug(name, command, this.#testbed.daemon.rootDir),
    ctl: async (name = '', command = '') => this.#plugins.control(name, command),
    podres: async (name = '', pod) => {
      if (this.#recorded.plugins === undefined) return;
      const answers = await askPodResources(this.#testbed.daemon.rootDir, pod);
      this.kept.set(`podres.${name}`, JSON.stringify(answers));
    },
    // They only print what is not compared here.
    mark: () => undefined,
    snapshot: () => undefined,
  };
}
